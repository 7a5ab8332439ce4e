"""What workloads and many runs look like: ring statistics, means with intervals, figures, reports."""
