"""Figures and tables of CAMCAST."""
