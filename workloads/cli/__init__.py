"""The commands `sub2sub workload ...` and `sub2sub sweep`, mounted by `sims.cli`."""
