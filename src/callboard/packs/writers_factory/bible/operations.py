"""What can be done with the Story Bible, by the writer or by the Foreman."""

from typing import Annotated

from pydantic import Field

from callboard.core.canonical import Json
from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import CHALLENGE, Cause, Done, Words
from callboard.packs.writers_factory.bible.bible import Bible, WriteOutcome
from callboard.packs.writers_factory.bible.checks import CheckResult
from callboard.packs.writers_factory.bible.filings import Filings, filed_fields
from callboard.packs.writers_factory.bible.orders import Template
from callboard.packs.writers_factory.bible.project import ProjectFacts
from callboard.packs.writers_factory.bible.writing import shaped_fields
from callboard.packs.writers_factory.model import ARCHITECT, TemplateName

Fact = Annotated[str | None, Field(max_length=500)]


@operation()
async def describe_book(
    bible: Bible,
    title: Fact = None,
    genre: Fact = None,
    tone: Fact = None,
    protagonist_name: Fact = None,
) -> ProjectFacts:
    """Begin a book in this project, or change what it is called."""
    facts = {
        "title": title,
        "genre": genre,
        "tone": tone,
        "protagonist_name": protagonist_name,
    }
    await bible.found()
    return await bible.describe(**{name: told for name, told in facts.items() if told is not None})


@operation()
async def fill_template(
    bible: Bible,
    name: str,
    fields: dict[str, Json],
    source: str = "writer_stated",
    replace: bool = False,
    strict: bool = False,
) -> WriteOutcome:
    """Write the writer's fields into a template; what is replaced is kept as a version."""
    return await bible.write(name, fields, source=source, replace=replace, strict=strict)


@operation()
async def keep_judged(bible: Bible, name: str, check: str) -> Template:
    """Keep words a judge failed; what the rules fail stays failed."""
    return await bible.accept(name, check)


@operation(
    who=(AGENT,),
    modes=(ARCHITECT,),
    example={
        "template": "theme",
        "content": {"theme_statement": "Mercy costs the one who grants it"},
    },
)
async def write_template(
    bible: Bible,
    cause: Cause,
    template: TemplateName,
    content: Annotated[dict[str, Json], Field(description="one element per field")],
    source: Words = "",
) -> Done:
    """Write agreed fields into a template of the Story Bible."""
    given = shaped_fields(template, content)
    await Filings(bible.workspace).begin(cause, filed_fields(bible, template, given))
    outcome = await bible.write(template, content, source=cause.source(source))
    return tell_template(
        bible, outcome.template, outcome.path, f"wrote {outcome.path}", outcome.warnings
    )


def tell_template(
    bible: Bible, template: Template, path: str, told: str, warnings: tuple[str, ...] = ()
) -> Done:
    """Return what the Foreman is told of a template: what is missing, and what does not hold."""
    missing = template.missing_fields
    failed = challenges_of(template)
    challenges = [f"{CHALLENGE} {name}: {reason}" for name, reason in failed]
    status = template.status.value
    lacking = f"; missing {', '.join(missing)}" if missing else ""
    slips = [f"{each}." for each in warnings]
    data: dict[str, Json] = {
        "template": template.name.value,
        "path": path,
        "status": status,
        "missing": list(missing),
        "failed_checks": [{"field": name, "reason": why} for name, why in failed],
        "work_order": bible.work_order().to_json(),
    }
    detail = " ".join([f"{told}; {status}{lacking}.", *challenges, *slips])
    return Done(detail, data, notices=tuple(challenges))


def challenges_of(template: Template) -> tuple[tuple[str, str], ...]:
    """Return why fields of a template do not count as done, by field."""
    return tuple((each.field, why(each)) for each in template.failed_checks)


def why(check: CheckResult) -> str:
    """Return why a check failed, and what would do instead."""
    reason = f"{check.reason.rstrip('.')}."
    return f"{reason} Instead: {'; '.join(check.alternatives)}." if check.alternatives else reason
