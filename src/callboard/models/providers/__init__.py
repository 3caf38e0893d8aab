"""Those who answer: the embedded model, scripts, and everybody behind a network."""
