"""An overlay live in a browser on this machine: the engine steps while one watches, and does things to it."""

from sims.lab.laboratory import Laboratory

__all__ = ["Laboratory"]
