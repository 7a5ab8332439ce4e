"""The protocols of `sub2sub.peers` for a whole population as arrays: one folder a protocol.

Each file names the peer with which it must agree; tests compare both with the same random numbers.
"""
