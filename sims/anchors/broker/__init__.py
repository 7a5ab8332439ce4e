"""A broker: one server that knows all subscriptions and sends every event to those who want it."""
