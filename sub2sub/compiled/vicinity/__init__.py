"""VICINITY: links to peers with overlapping or near subscriptions (Sub-2-Sub, Section 4.1)."""
