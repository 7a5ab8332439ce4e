"""Topics and ranges on one overlay: CAMCAST's tables beside Sub-2-Sub's rings; an event uses one of them."""

from hierarchy.shared.overlay import Route, SharedOverlay
from hierarchy.shared.settings import CamcastRoute, SharedSettings, TableSettings

__all__ = ["CamcastRoute", "Route", "SharedOverlay", "SharedSettings", "TableSettings"]
