"""Enhancement: changes proposed to a scene, each to be taken or refused by the writer."""
