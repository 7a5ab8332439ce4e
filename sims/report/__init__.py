"""Pages of results: one self-contained HTML file for a run or several runs."""

from sims.report.html import Page

__all__ = ["Page"]
