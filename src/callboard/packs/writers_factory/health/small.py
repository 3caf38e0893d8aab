"""Small questions: what a model is asked that can only pick, and what code knows beforehand.

Each returns None where nobody answers.
"""

import re
from typing import Final

from callboard.choreography.questions import Judge
from callboard.packs.writers_factory.health.quotes import (
    content_stems,
    sentences_near,
    sentences_of,
    share_of,
    shortened,
)
from callboard.packs.writers_factory.health.values import ChallengeType, SymbolStage
from callboard.packs.writers_factory.health.view import SceneView, mentions

_TENSIONS: Final = {"calm": 2.0, "uneasy": 4.0, "tense": 7.0, "breaking point": 9.0}
_CANDIDATES: Final = 5
_EXCERPT_CHARS: Final = 900
_LEEWAY: Final = 2
_PRESSURE: Final = re.compile(
    r"\b(?:ran|run|scream|shout|blood|gun|knife|dead|die|kill|hit|fell|fear|afraid|danger|threat"
    r"|broke|crash|fire|fight|chase|trap|lost|never|cried|alone)\w*\b|!",
    re.IGNORECASE,
)
_PRESSURE_SCALE: Final = 150.0
_QUOTE_CHARS: Final = 110


async def pick_tension(judge: Judge, key: str, scene: SceneView) -> float | None:
    """Return the mean of what the model feels and what code counts."""
    chosen = await judge.pick(
        key, "health/small_tension", list(_TENSIONS), scene=excerpt(scene.text)
    )
    if chosen is None:
        return None
    return round((_TENSIONS[chosen] + tension_prior(scene.text)) / 2, 1)


async def pick_type(judge: Judge, key: str, scene: SceneView, flaw: str) -> str | None:
    """Return how a scene tests a flaw, or `none`."""
    options = ["none", *(each.value for each in ChallengeType)]
    return await judge.pick(
        key, "health/small_challenge", options, scene=excerpt(scene.text, flaw), flaw=flaw
    )


async def pick_stage(
    judge: Judge, key: str, scene: SceneView, names: tuple[str, ...]
) -> str | None:
    """Return what a symbol that is known by now does in a scene."""
    told = " ".join(each for each in sentences_of(scene.text) if mentions(each, names))
    later = [SymbolStage.DEVELOPMENT.value, SymbolStage.TRANSFORMATION.value]
    return await judge.pick(
        key, "health/small_symbol", later, scene=told[:_EXCERPT_CHARS], symbol=names[0]
    )


async def pick_quote(judge: Judge, key: str, text: str, about: str) -> str | None:
    """Return the sentence the model picks from those that bear on a matter."""
    near = sentences_near(text, about, _CANDIDATES)
    if len(near) < 2:
        return near[0] if near else ""
    lines = "\n".join(f"{n}. {shortened(each, _QUOTE_CHARS)}" for n, each in enumerate(near, 1))
    # A number is one token; a sentence would be spelled out word by word.
    numbers = [str(number) for number in range(1, len(near) + 1)]
    chosen = await judge.pick(key, "health/small_quote", numbers, matter=about, lines=lines)
    return None if chosen is None else near[int(chosen) - 1]


async def pick_score(judge: Judge, key: str, text: str, theme: str) -> float | None:
    """Return how far a scene touches the theme: what the model picks near code's own count."""
    prior = theme_prior(text, theme)
    low, high = max(0, prior - _LEEWAY), min(10, prior + _LEEWAY)
    options = [str(number) for number in range(low, high + 1)]
    chosen = await judge.pick(
        key, "health/small_theme", options, scene=excerpt(text, theme), theme=theme
    )
    return None if chosen is None else float(chosen)


def tension_prior(text: str) -> float:
    """Return the tension that can be counted: words of danger and short sentences, 1 to 10."""
    sentences = sentences_of(text)
    words = len(text.split()) or 1
    pressure = min(1.0, _PRESSURE_SCALE * len(_PRESSURE.findall(text)) / words / 10)
    short = sum(len(each.split()) <= 8 for each in sentences) / (len(sentences) or 1)
    return round(1 + 9 * (0.7 * pressure + 0.3 * short), 1)


def theme_prior(text: str, theme: str) -> int:
    """Return how much of the theme's words a scene holds, 0 to 10."""
    return round(10 * share_of(content_stems(theme), content_stems(text)))


def excerpt(text: str, about: str = "") -> str:
    """Return the part of a scene a small window holds: what bears on a matter, else the end."""
    if len(text) <= _EXCERPT_CHARS:
        return text
    if not about:
        return text[-_EXCERPT_CHARS:].partition(" ")[2]
    near = set(sentences_near(text, about, _CANDIDATES + 1))
    return " ".join(each for each in sentences_of(text) if each in near)[:_EXCERPT_CHARS]
