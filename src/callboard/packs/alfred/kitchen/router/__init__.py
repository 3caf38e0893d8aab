"""The kitchen's router: plain requests become complete steps without a model."""

from callboard.packs.alfred.kitchen.router.routing import route_message
from callboard.packs.alfred.kitchen.router.situation import Situation

__all__ = ["Situation", "route_message"]
