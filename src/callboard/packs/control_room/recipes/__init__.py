"""The bundled recipes, and the doors to those in force."""
