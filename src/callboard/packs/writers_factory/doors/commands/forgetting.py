"""Forgetting a decision, with its words printed once more."""

from dataclasses import asdict

from callboard.cli.output import clean, echo, echo_json, remark
from callboard.core.canonical import plain
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.memory import operations


async def forget_decision(factory: Factory, category: str, key: str, *, as_json: bool) -> None:
    """Forget a decision; what is not there cannot be forgotten."""
    memory = factory.rooms.memory
    known = next((each for each in memory.decisions(category) if each.key == key), None)
    if known is None:
        raise NotFound(
            f"Nothing was decided as {category} {key}",
            fix="`callboard factory decisions` lists what was.",
            key=key,
        )
    await factory.perform(operations.forget_decision, known.category, known.key)
    if as_json:
        echo_json({"forgotten": plain(asdict(known))})
        return
    echo(clean(f"Forgotten: {known.category} {known.key} = {known.value}"))
    remark(f"Decide it again: callboard factory decide {known.category} {known.key} VALUE")
