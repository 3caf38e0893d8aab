"""The doors of QuestFoundry: commands and routes."""
