"""The run of the Story Bible: the judge, for one template or for all."""

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.bible.judging import judge_template
from callboard.packs.writers_factory.bible.shapes import template_name
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace


@choreography
async def judge(stage: Stage, template: str = "") -> Json:
    """Have the Story Bible judged where its rules let it pass; nothing is judged twice."""
    bible = Bible(Workspace(stage.studio))
    names = [template_name(template)] if template else list(TemplateName)
    failed: dict[str, Json] = {}
    for name in names:
        checks = await judge_template(stage, f"judge/{name.value}", bible, name)
        failed[name.value] = [each.to_json() for each in checks if not each.passed]
    statuses: dict[str, Json] = {name.value: bible.template(name).status.value for name in names}
    return {"statuses": statuses, "failed_checks": failed}
