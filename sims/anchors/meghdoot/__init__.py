"""Meghdoot: subscriptions as points of a content-addressable network in two dimensions for each attribute."""
