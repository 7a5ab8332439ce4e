"""SCAMP: partial views whose size adapts to the community (Ganesh, Kermarrec, Massoulié)."""
