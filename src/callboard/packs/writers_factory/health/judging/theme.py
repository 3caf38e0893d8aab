"""Theme judging: how far a scene tests or expresses the theme, 0 to 10, with a quotation."""

from collections.abc import Sequence
from typing import Final

from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.health.checks.theme import ThemeScore
from callboard.packs.writers_factory.health.judging.cache import JudgementCache, JudgementKey
from callboard.packs.writers_factory.health.judging.panel import Asked, Panel
from callboard.packs.writers_factory.health.judging.small import pick_quote, pick_score
from callboard.packs.writers_factory.health.quotes import evidence_of
from callboard.packs.writers_factory.health.values import CheckId
from callboard.packs.writers_factory.health.view import SceneView

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "quote": {"type": "string"},
    },
    "required": ["score", "quote"],
    "additionalProperties": False,
}


async def ask_theme(panel: Panel, key: str, scene: SceneView, statement: str) -> ThemeScore | None:
    """Return a scene's score; None if the judge cannot be asked."""
    judgement = panel.key(CheckId.THEME.value, scene.content_hash, statement)
    known = panel.cache.get(judgement)
    if known is not None:
        return ThemeScore(known["score"], known["quote"])
    ask = _ask_small if panel.is_small else _ask_full
    found = await ask(panel, key, scene, statement)
    if found is not None:
        await panel.keep(key, judgement, {"score": found.score, "quote": found.quote})
    return found


def known_scores(
    cache: JudgementCache, model: str, scenes: Sequence[SceneView], statement: str
) -> dict[str, ThemeScore]:
    """Return the scores a model has given before, by scene id."""
    found: dict[str, ThemeScore] = {}
    for scene in scenes:
        known = cache.get(
            JudgementKey.of(CheckId.THEME.value, scene.content_hash, model, statement)
        )
        if known is not None:
            found[scene.scene_id] = ThemeScore(known["score"], known["quote"])
    return found


async def _ask_full(panel: Panel, key: str, scene: SceneView, statement: str) -> ThemeScore | None:
    asked = Asked(
        "health/theme",
        _SCHEMA,
        {
            "scene": Content(scene.text, scene.scene_id, Trust.UNTRUSTED),
            "theme": Content(statement, "story", Trust.UNTRUSTED),
        },
    )
    data = await panel.ask(key, asked)
    if data is None:
        return None
    quote = str(data["quote"])
    return ThemeScore(float(data["score"]), quote if evidence_of(scene, quote) else "")


async def _ask_small(panel: Panel, key: str, scene: SceneView, statement: str) -> ThemeScore | None:
    score = await pick_score(panel, f"{key}/score", scene, statement)
    if score is None:
        return None
    return ThemeScore(score, await pick_quote(panel, f"{key}/quote", scene, statement))
