"""Closed forms for CAMCAST and the gossip protocols it is compared with."""

from hierarchy.analysis import latency, memory, reliability, traffic, tuning

__all__ = ["latency", "memory", "reliability", "traffic", "tuning"]
