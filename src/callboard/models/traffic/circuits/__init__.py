"""Circuits: the breakers of all resources, in this process or shared through the store."""
