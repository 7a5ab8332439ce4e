"""CAMCAST: community-aware multicast over a topic hierarchy."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
