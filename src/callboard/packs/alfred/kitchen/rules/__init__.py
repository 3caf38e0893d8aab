"""The kitchen's rules: how names become ingredients, what merges, what is asked, what follows."""
