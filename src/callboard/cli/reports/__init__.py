"""What the journal and the project hold, for people and for programs. Changes nothing."""
