"""Sub-2-Sub: a content-based publish/subscribe overlay."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
