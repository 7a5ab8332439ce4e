"""Ring links: the neighbours that Figure 3 of Sub-2-Sub selects, found by exchanging with ring neighbours.

`layer` runs a cycle, `exchange` an exchange; `offers` chooses links, `view` keeps some, `pool` stores them.
"""
