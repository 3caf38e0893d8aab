"""The templates as files of the writer: found, taken apart, put together, kept."""
