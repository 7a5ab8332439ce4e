"""Workloads: who subscribes to what, which events come, who matches them; in process and on Spark."""

from workloads.spec.catalogue import named
from workloads.spec.files import load
from workloads.spec.spec import Attribute, Spec

__all__ = ["Attribute", "Spec", "load", "named"]
