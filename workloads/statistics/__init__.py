"""Statistics of workloads and of many runs: rings, means with intervals, figures."""
