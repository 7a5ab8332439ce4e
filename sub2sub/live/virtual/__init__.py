"""Live nodes with virtual time: the code of `sub2sub.live.net`, unchanged, on a simulated network."""
