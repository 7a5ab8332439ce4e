"""What a topic costs, what a range costs: every system on the same interests, events and faults."""
