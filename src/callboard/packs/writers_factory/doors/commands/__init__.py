"""The commands of Writers Factory, one module per noun."""
