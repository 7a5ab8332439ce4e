"""Topics and ranges on one overlay: CAMCAST's tables kept beside the rings, each event by either of them."""

from hierarchy.shared.overlay import Route, SharedOverlay
from hierarchy.shared.settings import CamcastRoute, SharedSettings, TableSettings

__all__ = ["CamcastRoute", "Route", "SharedOverlay", "SharedSettings", "TableSettings"]
