"""Working in an open project: following runs, asking the human, serving, ending."""
