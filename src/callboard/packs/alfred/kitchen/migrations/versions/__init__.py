"""The revisions, one module each. A revision that was released is never changed."""
