"""CYCLON: random links, which keep all peers in one overlay (Sub-2-Sub, Section 4.1)."""
