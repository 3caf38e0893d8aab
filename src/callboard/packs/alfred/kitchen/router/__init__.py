"""The kitchen's router: plain requests become complete steps without a model."""
