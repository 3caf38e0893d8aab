"""Library: what several packs share and is no pack."""
