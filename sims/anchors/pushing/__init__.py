"""How an event spreads over links that are there: pushed along some, announced along others, asked for."""
