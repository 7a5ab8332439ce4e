"""Topics and ranges on one overlay: CAMCAST's tables beside Sub-2-Sub's rings; an event uses one of them."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
