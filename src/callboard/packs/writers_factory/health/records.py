"""What the health service keeps in the project: judgements of scenes, challenges, overrides.

Holds no rules; a later text makes a judgement of an earlier one unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.health.values import FlawChallenge, ThemeOverride
from callboard.packs.writers_factory.model import SymbolUse

REPORT_KIND: Final = "health_report"
CHALLENGE_KIND: Final = "flaw_challenge"
OVERRIDE_KIND: Final = "theme_override"
JUDGED_KIND: Final = "scene_judgement"
CORRECTION_KIND: Final = "scene_correction"
FUNCTION_KIND: Final = "cast_function"
_WRITER: Final = "writer"


@dataclass(frozen=True, slots=True)
class SceneJudgement:
    """What a scene does, as a judge or the writer sees it."""

    scene_id: str
    tension: float | None = None
    symbols: tuple[SymbolUse, ...] = ()
    challenge: FlawChallenge | None = None
    # What people of the scene are for: name to function.
    functions: Mapping[str, str] | None = None
    # Whether the judge has answered; what is left out otherwise is unknown.
    is_judged: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "tension": self.tension,
            "symbols": [{"name": use.name, "stage": use.stage} for use in self.symbols],
            "challenge": None if self.challenge is None else self.challenge.to_json(),
            "functions": dict(self.functions or {}),
        }


class HealthRecords:
    """The documents behind the checks."""

    def __init__(self, ground: Ground) -> None:
        """Take the ground to stand on."""
        self._ground = ground
        self.documents = ground.records

    async def keep_judgement(self, judgement: SceneJudgement, content_hash: str, flaw: str) -> None:
        """Keep what a scene does, with the text and the flaw it was judged by."""
        body = {**judgement.to_json(), "content_hash": content_hash, "flaw": flaw}
        challenge = _challenge_body(judgement.scene_id, judgement.challenge)

        def work(connection: Any) -> None:
            store = self.documents.store
            store(connection, JUDGED_KIND, judgement.scene_id, body)
            store(connection, CHALLENGE_KIND, f"{judgement.scene_id}/llm", challenge)
            for name, function in (judgement.functions or {}).items():
                key = name.casefold()
                if self.documents.load(connection, FUNCTION_KIND, key) is None:
                    told: dict[str, Json] = {"name": name, "function": function, "note": ""}
                    store(connection, FUNCTION_KIND, key, {**told, "by": "llm"})

        await self._ground.studio.database.write(work)

    def judgements(self) -> dict[str, dict[str, Any]]:
        """Return the latest judgement of every scene, as stored."""
        return self.documents.all(JUDGED_KIND)

    def writer_challenges(self) -> dict[str, FlawChallenge | None]:
        """Return what the writer says of scenes; None where they say that nothing is challenged."""
        found: dict[str, FlawChallenge | None] = {}
        for key, body in self.documents.all(CHALLENGE_KIND).items():
            name, _, by = key.rpartition("/")
            if by == _WRITER:
                found[name] = FlawChallenge.from_json(body) if body.get("type") else None
        return found

    async def keep_challenge(self, scene_id: str, challenge: FlawChallenge | None) -> None:
        """Keep the writer's word on a scene."""
        await self.documents.put(
            CHALLENGE_KIND, f"{scene_id}/{_WRITER}", _challenge_body(scene_id, challenge)
        )

    def corrections(self) -> dict[str, dict[str, Any]]:
        """Return what the writer set right in judgements of scenes."""
        return self.documents.all(CORRECTION_KIND)

    async def keep_correction(self, scene_id: str, **changes: Json) -> None:
        """Keep the writer's own tension or symbols of a scene."""
        await self.documents.change(
            CORRECTION_KIND, scene_id, lambda body: {**(body or {}), **changes}
        )

    def functions(self) -> dict[str, dict[str, Any]]:
        """Return what characters are for, by their names in lower case."""
        return self.documents.all(FUNCTION_KIND)

    async def keep_function(self, name: str, function: str, note: str) -> None:
        """Keep what the writer says a character is for."""
        body = {"name": name, "function": function, "note": note, "by": _WRITER}
        await self.documents.put(FUNCTION_KIND, name.casefold(), body)

    def overrides(self) -> tuple[ThemeOverride, ...]:
        """Return the writer's own theme scores."""
        return tuple(
            ThemeOverride.from_json(body) for body in self.documents.all(OVERRIDE_KIND).values()
        )

    async def keep_override(self, override: ThemeOverride) -> None:
        """Keep a theme score; a later one for the same scene replaces it."""
        await self.documents.put(OVERRIDE_KIND, override.target, override.to_json())

    async def drop_override(self, target: str) -> bool:
        """Take a theme score back; say whether there was one."""
        return await self.documents.delete(OVERRIDE_KIND, target)


def symbols_of(rows: Any) -> tuple[SymbolUse, ...]:
    """Read symbols from a stored list."""
    return tuple(SymbolUse(str(row["name"]), str(row.get("stage", ""))) for row in rows or ())


def _challenge_body(scene_id: str, challenge: FlawChallenge | None) -> Mapping[str, Json]:
    return {"scene_id": scene_id, "type": ""} if challenge is None else challenge.to_json()
