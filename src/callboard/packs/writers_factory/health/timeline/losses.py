"""Losses: corrections of the writer that say since when a thing is gone."""

import re
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.health.view import ManuscriptView
from callboard.packs.writers_factory.model import scene_id

_HOW: Final = r"(?:lost|destroyed|burned|burnt|stolen|sold|smashed|thrown away|left behind|gone)"
_WHERE: Final = r"(?:chapter (?P<chapter>\d+)|ch(?P<ch>\d+)-sc(?P<sc>\d+))"
_SHAPES: Final = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?<![\w’'-])(?:the |his |her |their |my |a )?(?P<thing>[\w’'-]++(?: [\w’'-]++)?)"
        rf"(?: was| is| got| has been| had been|:) {_HOW}\b[^.]{{0,300}}?\b{_WHERE}",
        r"\b(?:lost|loses|lose|destroyed|burned|sold|dropped) (?:the|his|her|their|my|a)"
        rf" (?P<thing>[\w’'-]+(?: [\w’'-]+)?)\b[^.]{{0,300}}?\b{_WHERE}",
    )
)
_LEADING: Final = re.compile(r"^(?:the|his|her|their|my|a|an)\s+", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?<!\s)\s++(?:in|at|during|since|after|by)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Loss:
    """A thing that is gone after a scene, in the writer's words."""

    thing: str
    scene_id: str
    text: str


def read_losses(view: ManuscriptView) -> tuple[Loss, ...]:
    """Return the losses that corrections tell of, as far as the scene they name is written."""
    found: list[Loss] = []
    for text in view.corrections:
        for shape in _SHAPES:
            match = shape.search(text)
            if match is None:
                continue
            thing = _TRAILING.sub("", _LEADING.sub("", match["thing"]))
            last = _last_scene(view, match)
            if last is not None:
                found.append(Loss(thing, last, text))
            break
    return tuple(found)


def _last_scene(view: ManuscriptView, match: re.Match[str]) -> str | None:
    if match["ch"]:
        named = scene_id(int(match["ch"]), int(match["sc"]))
        return named if named in view.by_id else None
    ids = [scene.scene_id for scene in view.scenes if scene.chapter == int(match["chapter"])]
    return ids[-1] if ids else None
