"""Traffic: what stands between a call and its provider."""
