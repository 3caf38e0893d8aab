"""The kitchen's router: plain requests become complete steps without a model."""

from callboard.packs.alfred.kitchen.router.routing import LONGEST_MESSAGE, route_message
from callboard.packs.alfred.kitchen.router.situation import Situation

__all__ = ["LONGEST_MESSAGE", "Situation", "route_message"]
