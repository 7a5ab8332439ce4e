"""Ring links: the neighbours that Figure 3 of Sub-2-Sub selects, found by exchanging with ring neighbours.

`layer` says which peers exchange, `offers` what is offered, `view` what is kept, `pool` where it is stored.
"""
