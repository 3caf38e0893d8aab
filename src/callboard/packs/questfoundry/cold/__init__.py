"""Cold: what passed a gatecheck, as snapshots that never change."""
