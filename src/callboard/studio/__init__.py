"""The composition root: opens a project, wires the rooms, owns sessions."""
