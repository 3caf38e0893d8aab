"""Working in a project: opening it, following runs, asking the human, ending."""
