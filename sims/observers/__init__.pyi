from sims.observers.degrees import Degrees as Degrees
from sims.observers.degrees import LinkAges as LinkAges
from sims.observers.delivery import Delivery as Delivery
from sims.observers.graph import Clustering as Clustering
from sims.observers.graph import Connectivity as Connectivity
from sims.observers.graph import PathLengths as PathLengths
from sims.observers.graph import snapshot as snapshot
from sims.observers.rings import RingCompleteness as RingCompleteness
