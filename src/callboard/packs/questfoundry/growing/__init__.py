"""Books grown by code from known shapes, sound by construction."""
