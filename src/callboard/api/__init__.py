"""The HTTP door: everything a project can do, under `/api`. Thin, with no rules of its own."""
