"""What systems share: the interface of a run and of a comparison, accounts, and ways to send events."""
