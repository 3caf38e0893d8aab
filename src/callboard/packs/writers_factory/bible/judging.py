"""The judge of the Story Bible: a model that may fail what the rules let pass, never the reverse.

What was judged once is not asked again. A small model is not asked at all: its verdict would be
chance, and the rules stand without it.
"""

from typing import Final, Literal

from callboard.choreography.answers import Answer, Quote
from callboard.choreography.questions import Judge, Question
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Trust
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
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.workspace import judge_on

_TOKENS: Final = 300
_REASON_CHARS: Final = 500


class TemplateVerdict(Answer):
    """What a judge says of the words of a template."""

    verdict: Literal["pass", "fail"]
    reason: str
    quote: Quote = ""


async def judge_template(
    stage: Stage, key: str, bible: Bible, name: TemplateName | str
) -> tuple[CheckResult, ...]:
    """Have a template judged where the rules let it pass, and return all its checks."""
    template = bible.template(name)
    judge = judge_on(stage)
    if judge.is_small:
        return template.checks
    for check in JUDGED[template.name]:
        if is_judgeable(check, template.checks) and not _is_partial(template, check):
            await _judge(judge, f"{key}/{check}", bible, template, check)
    return bible.checks(template.name)


async def _judge(judge: Judge, key: str, bible: Bible, template: Template, check: str) -> None:
    question = Question(
        f"judging/{check}", TemplateVerdict, about=("material",), max_tokens=_TOKENS
    )
    origin = f"file:{template.file_path}"
    material = Content(_material(template, check), origin, Trust.UNTRUSTED)
    found = await judge.once(key, question, material=material)
    if found is None:
        # Why is in the journal; without a judge the rules stand alone.
        return
    judgement = Judgement(
        check,
        content_digest(template.name, check, template.fields),
        judge.model,
        passed=found.verdict == "pass",
        reason=clean_text(found.reason)[:_REASON_CHARS],
        quote=clean_text(found.quote),
    )

    async def keep() -> Json:
        await bible.judgements.keep(template.name, judgement)

    # Keeping the same verdict twice changes nothing.
    await keep_in_run(judge.stage, f"{key}/kept", "verdict on a template", keep, of=check)


def _is_partial(template: Template, check: str) -> bool:
    # A sheet with holes is judged when they are filled.
    return check == "beat" and bool(template.missing_fields)


def _material(template: Template, check: str) -> str:
    fields = JUDGED[template.name][check]
    return "\n\n".join(
        f"{field}:\n{template.text(field)}" for field in fields if template.fields.get(field)
    )
