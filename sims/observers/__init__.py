"""Observers: controls that measure the simulation and write a row."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
