"""CAMCAST, its memberships and the shared overlay, one readable class a protocol.

As in `sub2sub.peers`: no clock, no socket, no array of a population. `hierarchy.compiled` and
`hierarchy.live` drive the same rules, and the tests compare them.
"""
