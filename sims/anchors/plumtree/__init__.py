"""Plumtree: a spanning tree that events prune out of a random overlay, and announcements that repair it."""
