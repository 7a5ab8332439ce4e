"""Sub-2-Sub: a content-based publish/subscribe overlay."""
