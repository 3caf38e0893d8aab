"""Writing: one module per format; each turns a book into bytes that are always the same."""
