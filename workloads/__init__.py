"""Workloads: subscriptions, events and the matches between them, computed in this process or on Spark."""

from workloads.spec.catalogue import named
from workloads.spec.files import load
from workloads.spec.spec import Attribute, Spec

__all__ = ["Attribute", "Spec", "load", "named"]
