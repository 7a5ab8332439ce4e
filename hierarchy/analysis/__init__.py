"""Closed forms for CAMCAST and the gossip protocols it is compared with."""

from hierarchy.analysis import latency, memory, messages, reliability, tuning

__all__ = ["latency", "memory", "messages", "reliability", "tuning"]
