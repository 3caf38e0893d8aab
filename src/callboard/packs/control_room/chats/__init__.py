"""Chats: one agent of the staff and one conversation."""
