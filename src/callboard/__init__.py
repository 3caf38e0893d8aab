"""Callboard runs teams of LLM agents the way a theatre runs a show."""

__version__ = "0.1.0"
