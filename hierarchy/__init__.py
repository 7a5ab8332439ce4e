"""Topic hierarchies, and gossip through them."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
