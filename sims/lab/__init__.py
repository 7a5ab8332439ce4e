"""The laboratory: a running overlay in a browser on this machine, which the user watches and changes."""

from sims.lab.laboratory import Laboratory

__all__ = ["Laboratory"]
