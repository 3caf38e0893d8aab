"""The demonstration: a scene of the sample novel, drafted by the embedded model."""
