"""The protocols of `hierarchy.peers` for a whole population as arrays: one folder a protocol."""
