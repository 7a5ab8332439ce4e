"""Messages as bytes: frames, the table of message types, and the limits of every field."""
