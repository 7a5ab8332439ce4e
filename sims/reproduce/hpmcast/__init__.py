"""Figures of rfpbcast, pmcast and hpmcast."""
