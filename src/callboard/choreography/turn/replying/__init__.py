"""Replying: facts gathered by code, put into words, looked over before they are sent."""
