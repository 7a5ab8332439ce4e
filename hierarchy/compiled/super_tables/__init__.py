"""Super-topic tables: links from a community to the next one up (CAMCAST, Sections 3.3 and 3.4).

They are found by asking neighbours (`flood`), then checked, refilled and passed on.
"""
