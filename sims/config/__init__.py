"""Experiments as TOML files: the keys that may be set, how they are checked, and those that ship."""
