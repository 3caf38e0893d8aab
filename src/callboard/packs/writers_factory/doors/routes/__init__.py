"""Writers Factory over HTTP, one module per noun."""
