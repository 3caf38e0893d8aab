"""Safety: what somebody must not eat is found by code, in names, tags and steps."""

from callboard.packs.alfred.kitchen.safety.allergens import allergens_in
from callboard.packs.alfred.kitchen.safety.checking import Eater, check_constraints
from callboard.packs.alfred.kitchen.safety.conflicts import Clash, find_clash

__all__ = ["Clash", "Eater", "allergens_in", "check_constraints", "find_clash"]
