"""Workloads: subscriptions, events and the matches between them, computed in this process or on Spark.

The names below are imported when they are first used, so that the command line waits neither for NumPy nor
for Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workloads.spec.catalogue import named
    from workloads.spec.files import load
    from workloads.spec.spec import Attribute, Spec

__all__ = ["Attribute", "Spec", "load", "named"]

_MODULE_OF = {"Attribute": "spec", "Spec": "spec", "load": "files", "named": "catalogue"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'workloads' has no attribute {name!r}")
    return getattr(import_module(f"workloads.spec.{_MODULE_OF[name]}"), name)
