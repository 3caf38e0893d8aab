"""Handlers: the asynchronous half of commands: following runs, asking the human, serving, ending."""
