"""A small office: documents, contacts and tasks, on the same layers as the kitchen."""
