"""Definition of workloads: attributes, distributions, events, topics and churn, in Python and TOML files."""
