"""The judge of the Story Bible: a model that may fail what the rules let pass, never the reverse.

What was judged once is not asked again. A small model is not asked at all: its verdict would be
chance, and the rules stand without it.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.bible.bible import Bible
from callboard.packs.writers_factory.bible.checks import CheckResult
from callboard.packs.writers_factory.bible.checks.judgements import (
    JUDGED,
    Judgement,
    content_digest,
    is_judgeable,
)
from callboard.packs.writers_factory.bible.orders import Template
from callboard.packs.writers_factory.bible.values import clean_text
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import JUDGE, TemplateName
from callboard.packs.writers_factory.staff import is_small, model_of

_TOKENS: Final = 300
_REASON_CHARS: Final = 500
_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["pass", "fail"]},
        "reason": {"type": "string"},
        "quote": {"type": "string"},
    },
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}


async def judge_template(
    stage: Stage, key: str, bible: Bible, name: TemplateName | str
) -> tuple[CheckResult, ...]:
    """Have a template judged where the rules let it pass, and return all its checks."""
    ground = Ground(stage.studio)
    template = bible.template(name)
    judged_by = model_of(ground, JUDGE)
    if is_small(ground, judged_by):
        return template.checks
    for check in JUDGED[template.name]:
        if not is_judgeable(check, template.checks) or _is_partial(template, check):
            continue
        if bible.judgements.find(template.name, check, template.fields, judged_by) is None:
            await _judge(stage, f"{key}/{check}", bible, template, check, judged_by)
    return bible.checks(template.name)


async def _judge(
    stage: Stage, key: str, bible: Bible, template: Template, check: str, model: str
) -> None:
    material = _material(template, check)
    try:
        reply = await stage.ask(
            key,
            JUDGE,
            prompt=f"judging/{check}",
            schema=_SCHEMA,
            max_tokens=_TOKENS,
            model=model,
            material=Content(material, f"file:{template.file_path}", Trust.UNTRUSTED),
        )
    except StepFailed:
        # The failure is in the journal; without a judge the rules stand alone.
        return
    judgement = _read(reply.data, template, check, model, material)

    async def keep(_judgement: Json) -> None:
        await bible.judgements.keep(template.name, judgement)

    # Keeping the same verdict twice changes nothing.
    await stage.step(f"{key}/keep", keep, judgement.to_json(), effect=Effect.IDEMPOTENT)


def _read(data: Json, template: Template, check: str, model: str, material: str) -> Judgement:
    said = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    reason = clean_text(str(said.get("reason") or ""))[:_REASON_CHARS]
    quote = clean_text(str(said.get("quote") or ""))
    return Judgement(
        check,
        content_digest(template.name, check, template.fields),
        model,
        # A verdict that cannot be read fails nothing.
        passed=said.get("verdict") != "fail",
        reason=reason,
        quote=quote if quote and quote in material else "",
    )


def _is_partial(template: Template, check: str) -> bool:
    # A sheet with holes is judged when they are filled.
    return check == "beat" and bool(template.missing_fields)


def _material(template: Template, check: str) -> str:
    fields = JUDGED[template.name][check]
    return "\n\n".join(
        f"{field}:\n{template.text(field)}" for field in fields if template.fields.get(field)
    )
