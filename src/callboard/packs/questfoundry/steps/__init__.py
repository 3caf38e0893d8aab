"""The code of loops: steps without a role, what roles are shown before, and the last word after."""
