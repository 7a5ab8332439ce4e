"""Workloads: who subscribes to what, which events come, who matches them; in process and on Spark."""

from workloads.catalogue import named
from workloads.spec import Attribute, Spec
from workloads.specfile import load

__all__ = ["Attribute", "Spec", "load", "named"]
