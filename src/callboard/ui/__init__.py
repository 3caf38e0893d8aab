"""UI: pages in the browser, on the same server as the API. Thin: they ask the packs, as it does."""
