"""The run `continuity`: the whole book by rules, and the passages rules cannot judge by a model.

Without a judge the pairs are counted and said to be not judged; nothing is fine by default.
"""

import asyncio
from typing import Annotated, Any, Final, cast

from pydantic import Field

from callboard.choreography.definition import choreography
from callboard.choreography.questions import Answers, Judge
from callboard.choreography.staffing import find_agent
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.codec import decode, encode
from callboard.core.vocabulary import ModelTier
from callboard.library.story.model import StoryFinding
from callboard.library.story.pairs.judging import JudgedPairs, Prospect, judge_pairs, prospect_of
from callboard.library.story.tools.consistency.continuity import check_of
from callboard.library.story.tools.report import in_order
from callboard.packs.control_room.evidence import PACK

_AGENT: Final = "continuity"
_NOBODY: Final = "nobody was asked"


@choreography
async def continuity(
    stage: Stage, judge: bool = False, pairs: Annotated[int, Field(ge=0)] | None = None
) -> Json:
    """Check the whole book against itself; `judge` lets a model judge at most `pairs` pairs."""

    def look() -> Json:
        check = check_of(stage.studio.tools.context(""))
        report = check.report()
        prospect = prospect_of(check.pairs(pairs))
        return {
            "status": report.status,
            "reason": report.reason,
            "findings": [encode(each) for each in report.findings],
            "files_checked": list(report.files_checked),
            "warnings": list(report.warnings),
            "prospect": prospect.to_json(),
        }

    looked = cast("dict[str, Any]", await stage.step("look", lambda: asyncio.to_thread(look)))
    prospect = Prospect.from_json(looked.pop("prospect"))
    judgement = (
        await judge_pairs(_judge(stage), prospect)
        if judge
        else JudgedPairs(not_judged=prospect.calls, left_out=prospect.left_out, why=_NOBODY)
    )
    by_rules = [decode(StoryFinding, each) for each in looked["findings"]]
    found = in_order([*by_rules, *judgement.findings])
    if judgement.findings:
        looked["status"] = "CONTRADICTIONS"
    return {
        **looked,
        "findings": [each.to_json() for each in found],
        "pairs": {
            "judged": judgement.judged,
            "not_judged": judgement.not_judged,
            "left_out": judgement.left_out,
            "unproven": judgement.unproven,
            "why": judgement.why,
            "told": judgement.told(),
            "calls": prospect.calls,
            "tokens": prospect.tokens,
        },
    }


def _judge(stage: Stage) -> Judge:
    studio = stage.studio
    model = find_agent(studio, _AGENT, PACK).model or studio.settings.models.default
    is_small = studio.catalog.facts(model).tier is ModelTier.MINIMAL
    return Judge(stage, _AGENT, Answers(studio, PACK), model, is_small=is_small)
