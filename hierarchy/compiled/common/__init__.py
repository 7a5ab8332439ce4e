"""What these layers share: the channel that loses and counts messages, rows of members, traces."""
