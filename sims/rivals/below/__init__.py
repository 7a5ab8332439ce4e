"""Overlays and rules that rivals are built on, and that are no rivals by themselves."""
