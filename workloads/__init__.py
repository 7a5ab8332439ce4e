"""Workloads: who subscribes to what, which events come, who matches them; in process and on Spark."""

from workloads.catalogue import named
from workloads.spec import Attribute, Spec

__all__ = ["Attribute", "Spec", "named"]
