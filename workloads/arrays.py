"""Names of array types in annotations."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[np.signedinteger[Any]]
"""Numbers of subscribers, as int32 or int64."""
