"""Membership services: SCAMP, P-Grid, and the memberships of CAMCAST that use them."""

from sub2sub.lazily import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
