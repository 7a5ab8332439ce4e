"""Pages to look at: one self-contained HTML file per run, or set of runs."""

from sims.report.html import Page

__all__ = ["Page"]
