"""`outline_analyzer`: the outline's scenes, beats and balance, and which of them a task means."""
