"""Plans: from a wish to an approved checklist of runs."""
