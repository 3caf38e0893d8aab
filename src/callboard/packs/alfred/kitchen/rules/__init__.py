"""The kitchen's rules: how names become ingredients, what merges, what is asked, what follows."""

from callboard.packs.alfred.kitchen.rules.kitchen_rules import KitchenRules

__all__ = ["KitchenRules"]
