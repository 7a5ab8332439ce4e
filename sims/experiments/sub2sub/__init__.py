"""The experiments of Sub-2-Sub (004), and of the overlay beneath it."""
