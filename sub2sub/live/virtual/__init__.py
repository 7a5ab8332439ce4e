"""Whole live nodes under virtual time: the code of `sub2sub.live.net`, unchanged, on a simulated network."""
