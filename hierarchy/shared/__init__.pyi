from hierarchy.peers.settings import CamcastRoute as CamcastRoute
from hierarchy.peers.settings import SharedSettings as SharedSettings
from hierarchy.peers.settings import TableSettings as TableSettings
from hierarchy.shared.shared_overlay import Route as Route
from hierarchy.shared.shared_overlay import SharedOverlay as SharedOverlay
