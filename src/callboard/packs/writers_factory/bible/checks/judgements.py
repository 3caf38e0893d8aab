"""Judgements: which verdicts stand on a template's words, and which the writer accepted anyway.

A judgement belongs to the words it was made on: other words, and it no longer counts. This is the
state of the template, the writer's decisions included; what a model has said is remembered with all
other answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.packs.writers_factory.bible.checks.rules import CheckOrigin, CheckResult
from callboard.packs.writers_factory.bible.values import NothingToAccept, Value
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace

_KIND: Final = "template_judgements"
_REMEMBERED: Final = 12
# Which fields each judgement is about.
JUDGED: Final[Mapping[TemplateName, Mapping[str, tuple[str, ...]]]] = {
    TemplateName.PROTAGONIST: {
        "flaw": ("fatal_flaw",),
        "lie": ("the_lie", "arc_resolution"),
        "arc": ("arc_start", "arc_midpoint", "arc_resolution", "fatal_flaw", "the_lie"),
    },
    TemplateName.BEAT_SHEET: {"beat": tuple(f"beat_{number}" for number in range(1, 16))},
    TemplateName.THEME: {"theme_statement": ("theme_statement", "central_theme")},
    TemplateName.WORLD_RULES: {"rule": ("fundamental_rules",)},
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict of one model on one check of some words."""

    check: str
    digest: str
    model: str
    passed: bool
    reason: str = ""
    quote: str = ""
    # The writer saw that it failed and keeps the words.
    accepted: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "check": self.check,
            "digest": self.digest,
            "model": self.model,
            "passed": self.passed,
            "reason": self.reason,
            "quote": self.quote,
            "accepted": self.accepted,
        }


class Judgements:
    """Keeps what was judged, and finds it again by the words."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def of(self, name: TemplateName) -> tuple[Judgement, ...]:
        """Return everything that was judged, newest last."""
        body = self._workspace.records.get(_KIND, name.value) or {}
        return tuple(Judgement(**each) for each in body.get("held", []))

    def find(self, name: TemplateName, check: str, fields: Mapping[str, Value]) -> Judgement | None:
        """Return the newest judgement on exactly these words."""
        return _newest(self.of(name), name, check, fields)

    async def keep(self, name: TemplateName, judgement: Judgement) -> None:
        """Have a judgement stand; one on the same words by the same model stays as it is."""
        same = (judgement.check, judgement.digest, judgement.model)
        if all((each.check, each.digest, each.model) != same for each in self.of(name)):
            await self._put(name, judgement)

    async def _put(self, name: TemplateName, judgement: Judgement) -> None:
        """Store a judgement in place of an older one on the same words by the same model."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            held = list((body or {}).get("held", []))
            told = judgement.to_json()
            same = {key: told[key] for key in ("check", "digest", "model")}
            others = [each for each in held if not same.items() <= each.items()]
            return {"held": _trimmed([*others, told])}

        await self._workspace.records.change(_KIND, name.value, work)

    async def accept(
        self, name: TemplateName, check: str, fields: Mapping[str, Value]
    ) -> Judgement:
        """Record that the writer keeps words a judge failed; what code failed stays failed."""
        found = self.find(name, check, fields)
        if found is None or found.passed:
            raise NothingToAccept(
                f"No judge failed {check!r} of {name.value} as it stands",
                fix="Only a judge's verdict can be accepted; mend what the rules name.",
                template=name.value,
                check=check,
            )
        accepted = replace(found, accepted=True)
        await self._put(name, accepted)
        return accepted

    def applied(
        self, name: TemplateName, fields: Mapping[str, Value], checks: tuple[CheckResult, ...]
    ) -> tuple[CheckResult, ...]:
        """Return the checks as they stand after the judge; a judge fails, it never passes."""
        held = self.of(name)
        if not held:
            return checks
        judged = (
            _newest(held, name, check, fields)
            for check in JUDGED[name]
            if is_judgeable(check, checks)
        )
        return (*checks, *(_result(name, each) for each in judged if each is not None))


def _newest(
    held: tuple[Judgement, ...],
    name: TemplateName,
    check: str,
    fields: Mapping[str, Value],
) -> Judgement | None:
    mark = content_digest(name, check, fields)
    for each in reversed(held):
        if each.check == check and each.digest == mark:
            return each
    return None


def _result(name: TemplateName, judged: Judgement) -> CheckResult:
    origin = CheckOrigin.WRITER if judged.accepted else CheckOrigin.JUDGE
    field = JUDGED[name][judged.check][0]
    passed = judged.passed or judged.accepted
    return CheckResult(judged.check, field, passed, judged.reason, origin, quote=judged.quote)


def is_judgeable(check: str, checks: tuple[CheckResult, ...]) -> bool:
    """Say whether code has let a check pass, so that a judge may look at it."""
    own = [each for each in checks if each.check == check and each.origin is CheckOrigin.CODE]
    return bool(own) and all(each.passed for each in own)


def content_digest(name: TemplateName, check: str, fields: Mapping[str, Value]) -> str:
    """Return the mark of the words a check is about."""
    return digest({each: fields.get(each) for each in JUDGED[name].get(check, ())})


def _trimmed(held: list[dict[str, Json]]) -> list[dict[str, Json]]:
    counted: dict[str, int] = {}
    kept: list[dict[str, Json]] = []
    for each in reversed(held):
        counted[each["check"]] = counted.get(each["check"], 0) + 1
        if counted[each["check"]] <= _REMEMBERED:
            kept.append(each)
    return kept[::-1]
