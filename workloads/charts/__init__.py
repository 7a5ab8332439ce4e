"""Charts as data, and the renderer for matplotlib; `sims.report` has the one for pages."""
