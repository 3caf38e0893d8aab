"""What the writer sets right in the health of the manuscript."""

from collections.abc import Mapping
from dataclasses import dataclass

from callboard.cli.output import clean, echo, echo_json
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.health import operations
from callboard.packs.writers_factory.health.values import ChallengeType
from callboard.packs.writers_factory.model import SymbolUse

_NONE = "none"


@dataclass(frozen=True, slots=True)
class Correction:
    """The writer's word on a scene; what is None stays as it was judged."""

    scene: str
    tension: float | None = None
    challenge: str | None = None
    intensity: int = 5
    symbols: Mapping[str, str] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return self.tension is None and self.challenge is None and self.symbols is None


async def correct_scene(factory: Factory, wanted: Correction, *, as_json: bool) -> None:
    """Put the writer's word in place of a judge's."""
    told = dict[str, Json]()
    if wanted.tension is not None:
        await factory.perform(operations.correct_tension, wanted.scene, wanted.tension)
        told["tension"] = wanted.tension
    if wanted.symbols is not None:
        uses = [SymbolUse(name, stage) for name, stage in wanted.symbols.items()]
        await factory.perform(operations.correct_symbols, wanted.scene, uses)
        told["symbols"] = dict(wanted.symbols)
    if wanted.challenge == _NONE:
        await factory.perform(operations.correct_challenge, wanted.scene)
        told["challenge"] = None
    elif wanted.challenge is not None:
        kind = _challenge(wanted.challenge)
        await factory.perform(operations.correct_challenge, wanted.scene, kind, wanted.intensity)
        told["challenge"] = wanted.challenge
    if as_json:
        echo_json({"scene_id": wanted.scene, "corrected": told})
        return
    for name, value in told.items():
        echo(clean(f"{wanted.scene}: {name} is {_NONE if value is None else value}, by your word."))


def _challenge(named: str) -> ChallengeType:
    known = [each.value for each in ChallengeType]
    if named not in known:
        raise InvalidInput(
            f"{named!r} is no way to challenge a flaw",
            fix=f"Use one of {', '.join(known)}, or none.",
        )
    return ChallengeType(named)


async def withdraw_theme(factory: Factory, target: str, *, as_json: bool) -> None:
    """Take the writer's own score back, so that the judge's counts again."""
    try:
        await factory.perform(operations.withdraw_theme_override, target)
    except NotFound as error:
        raise NotFound(
            f"You gave {target} no score of your own",
            fix=f"`callboard factory theme {target} SCORE --reason TEXT` gives one.",
            target=target,
        ) from error
    if as_json:
        echo_json({"withdrawn": target})
    else:
        echo(clean(f"{target}: the judge's score counts again."))


async def set_function(
    factory: Factory, character: str, function: str, note: str, *, as_json: bool
) -> None:
    """Keep what a supporting character is for."""
    await factory.perform(operations.set_function, character, function, note)
    if as_json:
        echo_json({"character": character, "function": function, "note": note})
    else:
        echo(clean(f"{character}: {function}{f' ({note})' if note else ''}"))
