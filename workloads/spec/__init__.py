"""What a workload is: attributes, distributions, events, topics and churn, in Python and in TOML files."""
