"""The domains that come with Callboard."""
