"""Scope: which part of the manuscript is looked at, and which checks are run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.health.values import CheckId
from callboard.packs.writers_factory.health.view import BeatView, ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Finding

GRAMMAR: Final = "manuscript | act:1|2a|2b|3 | chapter:N | scene:ID (such as scene:ch4-sc2)"
_SCOPE: Final = re.compile(
    r"(?P<whole>manuscript)|act:(?P<act>1|2a|2b|3)|chapter:(?P<chapter>[1-9]\d{0,5})"
    r"|scene:(?P<scene>ch[1-9]\d*-sc[1-9]\d*)",
    re.IGNORECASE | re.ASCII,
)


class BadScope(InvalidInput):
    """A scope or a check was named that does not exist."""

    code = "bad_scope"


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the manuscript; without a part, all of it."""

    act: str | None = None
    chapter: int | None = None
    scene_id: str | None = None

    def __str__(self) -> str:
        """Return the scope as it is written."""
        if self.act is not None:
            return f"act:{self.act}"
        if self.chapter is not None:
            return f"chapter:{self.chapter}"
        return f"scene:{self.scene_id}" if self.scene_id is not None else "manuscript"

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.act is None and self.chapter is None and self.scene_id is None

    def scenes(self, view: ManuscriptView) -> tuple[SceneView, ...]:
        """Return the scenes it holds."""
        return tuple(scene for scene in view.scenes if self.has(view, scene))

    def has(self, view: ManuscriptView, scene: SceneView) -> bool:
        """Say whether a scene is in it."""
        if self.act is not None:
            return view.act_of(scene) == self.act
        if self.chapter is not None:
            return scene.chapter == self.chapter
        return self.scene_id is None or scene.scene_id == self.scene_id

    def has_beat(self, beat: BeatView) -> bool:
        """Say whether a beat that nobody has written yet belongs to it."""
        return self.is_whole or beat.act == self.act

    def concerns(self, finding: Finding, inside: frozenset[str]) -> bool:
        """Say whether a finding belongs to it; `inside` are the ids of its scenes."""
        return self.is_whole or not inside.isdisjoint(finding.scene_ids)


def parse_scope(text: str) -> Scope:
    """Read a scope; nothing means the whole manuscript."""
    wanted = text.strip()
    if not wanted:
        return Scope()
    found = _SCOPE.fullmatch(wanted)
    if found is None:
        raise BadScope(
            f"{text!r} is no scope of a health check", fix=f"Write {GRAMMAR}.", scope=text
        )
    chapter = found["chapter"]
    return Scope(
        act=found["act"].lower() if found["act"] else None,
        chapter=int(chapter) if chapter else None,
        scene_id=found["scene"].lower() if found["scene"] else None,
    )


def parse_checks(names: Sequence[str]) -> tuple[CheckId, ...]:
    """Return the checks meant by ids or their first two signs; none named means all."""
    wanted: set[CheckId] = set()
    for name in names:
        key = name.strip().casefold()
        found = [c for c in CheckId if key in (c.value.casefold(), c.value[:2].casefold())]
        if not found:
            known = ", ".join(check.value for check in CheckId)
            raise BadScope(f"{name!r} is no health check", fix=f"There are {known}.", check=name)
        wanted.update(found)
    return tuple(check for check in CheckId if not wanted or check in wanted)
