"""CYCLON: random links, which keep everybody in one overlay (Sub-2-Sub, Section 4.1)."""
