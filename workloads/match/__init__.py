"""Which subscriptions match which events: counts by bitmaps, and the true rings of whole folders."""
