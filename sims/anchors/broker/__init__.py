"""A broker: one server that knows all subscriptions and sends every event to the subscribers that match."""
