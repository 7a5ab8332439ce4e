"""Matches of subscriptions and events: counts by bitmaps or a tree, and the true rings of folders."""
