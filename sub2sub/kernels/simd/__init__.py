"""Vector instructions, private to the kernels: nothing outside `sub2sub` imports them."""
