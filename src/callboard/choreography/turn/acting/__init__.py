"""Acting: a plan's steps are carried out, each seeing only what its kind may see."""
