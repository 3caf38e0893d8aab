"""Continuity: where a whole book contradicts itself, by rules and, if wanted, by a model."""
