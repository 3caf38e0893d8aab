"""The choreography `chat`: one message to the Foreman, one durable run, one turn at a time."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from callboard.choreography.guards import one_per_session
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.core.vocabulary import RunRecord
from callboard.core.words import shorten
from callboard.engine.run import Run
from callboard.models.catalog import provider_of
from callboard.models.traffic.priority import Priority
from callboard.packs.writers_factory.foreman.foreman import (
    Foreman,
    PastTurn,
    exchanges,
    interrupted,
)
from callboard.packs.writers_factory.foreman.guided import GuidedTurn
from callboard.packs.writers_factory.foreman.talk.account import TurnOpening, keep_turn
from callboard.packs.writers_factory.foreman.talk.asking import Wishes, route
from callboard.packs.writers_factory.foreman.talk.turn import TalkedTurn
from callboard.store.connection import Connection
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_TITLE_CHARS: Final = 60
_MOST_EXCHANGES: Final = 20
_MOST_CHARS: Final = 200_000
_KEY: Final = re.compile(r"[a-z_]+")
_EMBEDDED: Final = "local"
_PARAMETERS: Final = {
    "message": "str, required",
    "model": "str, default: by the routes of the settings",
    "active": "object of file, chapter, scene, beat, default: what is being worked on",
}


class ForemanBusy(Conflict):
    """The Foreman still answers the last message of this session."""

    code = "foreman_busy"


class ForemanChat:
    """What the pack offers as `chat`."""

    summary = "Say something to the Foreman; it answers from the state of the book, and acts."

    def __init__(self, foreman_of: Callable[[Studio], Foreman]) -> None:
        """Take who knows the Foreman of an open project."""
        self._foreman_of = foreman_of

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check what is said, and that the Foreman's own files can be used."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        message = raw.get("message")
        if unknown or not isinstance(message, str) or not message.strip():
            told = f"unknown: {', '.join(unknown)}" if unknown else "the message is missing"
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(f"There is nothing to say: {told}", fix=f"It takes: {takes}.")
        if len(message) > _MOST_CHARS:
            raise InvalidInput(
                f"The message is {len(message)} characters long",
                fix="Put long texts into a file or a notebook and name it.",
            )
        args: dict[str, Json] = {"message": message.strip()}
        if raw.get("model"):
            args["model"] = str(raw["model"])
        if raw.get("active"):
            args["active"] = _active(raw["active"])
        # Loads the catalogue: what is wrong in a project's file is told before a turn begins.
        _ = self._foreman_of(studio).executor
        return Prepared(args, title=message.strip()[:_TITLE_CHARS], admit=partial(_admit, studio))

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Answer one message."""
        foreman = self._foreman_of(studio)
        # A human waits for this and nothing else.
        stage = Stage(studio, run).at(Priority.USER)
        opening = TurnOpening.from_json(await stage.step("begin", lambda: _begin(foreman, run)))
        said = _said_before(studio, run, opening)
        if _is_guided(foreman, opening):
            result = await GuidedTurn(foreman, stage, opening, said).perform()
        else:
            result = await TalkedTurn(foreman, stage, opening, said).perform()
        if opening.interrupted:
            told = [_tell_interrupted(each) for each in opening.interrupted]
            result = {**result, "notices": [*told, *cast("list[Json]", result["notices"])]}
        await keep_turn(foreman, stage, result)
        return result


def _begin(foreman: Foreman, run: Run) -> Json:
    """Decide what must not change while a turn is made."""
    settings = foreman.workspace.settings.models
    state = foreman.state(_as_texts(run.args.get("active")))
    chosen = run.args.get("model")
    chain = route(
        Wishes(
            state.mode,
            str(run.args["message"]),
            str(chosen) if chosen else None,
            state.voice.winning_agent or None,
            settings.routes,
            settings.fallback,
        )
    )
    before = foreman.conversation(run.session_id, _MOST_EXCHANGES)
    said = tuple(each.run_id for each in before)
    lost = foreman.workspace.studio.database.read(lambda connection: interrupted(connection, run))
    return TurnOpening(state.mode, chain, said, lost).to_json()


def _tell_interrupted(message: str) -> str:
    return (
        f"“{shorten(message, _TITLE_CHARS)}” was interrupted and has no answer; what it had done"
        " stands. Say it again if it still matters."
    )


def _said_before(studio: Studio, run: Run, opening: TurnOpening) -> list[PastTurn]:
    chosen = set(opening.before)
    said = studio.database.read(
        lambda connection: exchanges(connection, run.session_id, 2 * _MOST_EXCHANGES)
    )
    return [each for each in said if each.run_id in chosen]


def _is_guided(foreman: Foreman, opening: TurnOpening) -> bool:
    """Say whether code leads and the model only finishes sentences."""
    wanted = foreman.workspace.settings.foreman.guided
    if wanted != "auto":
        return wanted == "always"
    model = opening.route.candidates[0].model or foreman.own_model
    return provider_of(model) == _EMBEDDED


def _admit(studio: Studio, connection: Connection, run: RunRecord) -> None:
    """Keep a second turn from starting while one of the same session is not over."""
    one_per_session(
        studio,
        connection,
        run,
        lambda other: ForemanBusy(
            f"The Foreman is still answering in this session (run {other.id})",
            fix="Wait for its answer, cancel that run, or talk in another session.",
            run_id=other.id,
        ),
    )


def _active(given: Json) -> dict[str, Json]:
    if not isinstance(given, dict):
        raise InvalidInput("`active` is no object", fix="Give file, chapter, scene or beat.")
    values = cast("dict[str, Any]", given)
    wrong = [key for key in values if not _KEY.fullmatch(key)]
    if wrong:
        raise InvalidInput(
            f"{wrong[0][:60]!r} cannot name something that is open",
            fix="Use small letters and underscores, like file, chapter, scene or beat.",
        )
    return {key: str(value) for key, value in values.items() if value is not None}


def _as_texts(given: Json) -> dict[str, str]:
    values = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    return {key: str(value) for key, value in values.items()}
