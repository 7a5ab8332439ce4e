"""Topics and ranges on one overlay: CAMCAST's tables beside Sub-2-Sub's rings; an event uses one of them."""

from typing import TYPE_CHECKING

from hierarchy.lazily import lazily

if TYPE_CHECKING:
    from hierarchy.peers.settings import CamcastRoute, SharedSettings, TableSettings
    from hierarchy.shared.overlay import Route, SharedOverlay

__all__ = ["CamcastRoute", "Route", "SharedOverlay", "SharedSettings", "TableSettings"]

__getattr__ = lazily(
    __name__,
    {
        "hierarchy.peers.settings": ["CamcastRoute", "SharedSettings", "TableSettings"],
        "hierarchy.shared.overlay": ["Route", "SharedOverlay"],
    },
)
