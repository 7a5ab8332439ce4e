"""The protocols of Sub-2-Sub, one readable class a protocol: read this room first.

A class has the state of one peer, says what it sends and what it keeps of what it receives. It has no clock,
no socket, no random state and no array of a population. It imports the standard library, NumPy and its
neighbours here. `sub2sub.compiled` makes the same decisions for a million peers, `sub2sub.live` runs these
very objects over TCP, and the tests compare all three, draw for draw.

Read in this order: `descriptors`, `draws`, `settings`; `cyclon`, `vicinity`, `ring` with `need` and
`verification`; `newcomer`; `publisher`, `forwarding`, `recovery`.
"""
