"""The history of the kitchen's tables, and the way from any point of it to the newest."""

from callboard.packs.alfred.kitchen.migrations.upgrading import HEAD, bring_up_to_date

__all__ = ["HEAD", "bring_up_to_date"]
