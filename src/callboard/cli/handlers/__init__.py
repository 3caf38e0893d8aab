"""Handlers: the asynchronous half of commands: following, asking the human, serving, ending."""
