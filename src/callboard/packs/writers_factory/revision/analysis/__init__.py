"""Analysis: a scene scored in five categories, by code where code can, by a judge where it must."""
