"""What is done to a household's kitchen besides writing its rows."""

import asyncio

from callboard.choreography.turn.domain import Who
from callboard.operations import operation
from callboard.packs.alfred.kitchen.domain import Kitchen


@operation()
async def add_person(kitchen: Kitchen, user_id: str, name: str, timezone: str, now: str) -> bool:
    """Give somebody a place in the household."""
    from callboard.packs.alfred.kitchen.opening import add_person as add

    return await kitchen.base.write(lambda c: add(c, user_id, name, now, timezone))


@operation()
async def seed_kitchen(kitchen: Kitchen, who: Who) -> dict[str, int]:
    """Fill an empty kitchen with something to try things on."""
    from callboard.packs.alfred.kitchen.seeding import seed

    today = await kitchen.today(who)
    return await asyncio.to_thread(seed, kitchen.base, who.user_id, today, kitchen.new_id)
