"""Matches of subscriptions and events: counted or listed by bitmaps."""
