"""The shelf: every artifact, in every version."""
