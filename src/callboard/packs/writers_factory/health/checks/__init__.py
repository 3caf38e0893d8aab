"""The seven checks: pure rules over a view of the manuscript."""
