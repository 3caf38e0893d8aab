"""Alfred over HTTP, one module per noun."""
