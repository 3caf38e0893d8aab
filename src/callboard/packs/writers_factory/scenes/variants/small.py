"""Small variants: a short draft by a small model, opened with the plan's own words.

A small model tells a scene readably if it is given one plain sentence to tell. It keeps no facts in
mind, so the scene begins with what the plan says, and what may not stand is taken out by code.
"""

import re
from typing import Final

from callboard.choreography.stage import Stage
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.variants.inspection import (
    Standard,
    forbidden,
    sentences_with,
)
from callboard.packs.writers_factory.scenes.variants.material import Material
from callboard.packs.writers_factory.voice.tournament.writing import PassageOrder, write_passage

_LEAST_SHARE: Final = 0.4
_MOST_SHARE: Final = 1.4
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]?")
_LABEL: Final = re.compile(
    r"^(?:The scene turns on this|What stands in the way is the flaw): ", re.IGNORECASE
)


async def build_small(
    stage: Stage, material: Material, strategy: str, model: str, standard: Standard
) -> str:
    """Return a short draft; if the model tells nothing, the plan's own sentences stand."""
    lines = scene_lines(material.brief)
    words = material.word_target
    order = PassageOrder(
        model=model,
        strategy=strategy,
        test_prompt=" ".join(lines[:3]),
        context="",
        words=words,
        least=int(words * _LEAST_SHARE),
        most=int(words * _MOST_SHARE),
        is_small=True,
    )
    passage = await write_passage(stage, order)
    told = _without_forbidden(passage.text, standard)
    return "\n\n".join([lines[0], told] if told else lines)


def scene_lines(scaffold: SmartScaffold) -> tuple[str, ...]:
    """Return what the plan says of a scene, one sentence each, what happens first."""
    who = scaffold.pov_character or "Somebody"
    happens = _sentences(scaffold.summary or scaffold.scene_goal) or [f"{who} is alone."]
    others = [name for name in scaffold.people if name != who]
    company = [f"{' and '.join(others[:2])} {'is' if len(others) == 1 else 'are'} there, too."]
    owed = [f"{who} thinks of {_lowered(each.name)}." for each in scaffold.callbacks[:2]]
    turn = [*_sentences(scaffold.conflict), *_sentences(scaffold.outcome)]
    lines = [*happens, *owed, *(company if others else []), *turn]
    return tuple(dict.fromkeys(lines))


def _without_forbidden(text: str, standard: Standard) -> str:
    for sentence in sentences_with(text, forbidden(text, standard)):
        text = text.replace(sentence, "")
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _sentences(text: str) -> list[str]:
    bare = _LABEL.sub("", text.strip())
    found = (each.strip() for each in _SENTENCE.findall(bare))
    return [_ended(each) for each in found if each][:2]


def _ended(text: str) -> str:
    whole = text if text[-1] in ".!?" else f"{text}."
    return whole[0].upper() + whole[1:]


def _lowered(text: str) -> str:
    stripped = text.strip().rstrip(".")
    return stripped[:1].lower() + stripped[1:] if stripped.split(" ")[0] in _ARTICLES else stripped


_ARTICLES: Final = ("The", "A", "An", "His", "Her", "Their")
