from hierarchy.peers.settings import CamcastRoute as CamcastRoute
from hierarchy.peers.settings import SharedSettings as SharedSettings
from hierarchy.peers.settings import TableSettings as TableSettings
from hierarchy.shared.overlay import Route as Route
from hierarchy.shared.overlay import SharedOverlay as SharedOverlay
