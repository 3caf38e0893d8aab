"""The Story Bible as the writer sees it: the work order, one template, its challenges."""

from collections.abc import Sequence
from typing import Final

from callboard.cli.output import clean, echo, echo_json, echo_table, remark
from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible import Bible, WriteOutcome
from callboard.packs.writers_factory.bible.orders import Template

_SHOWN: Final = 5


def order_report(bible: Bible, *, as_json: bool) -> None:
    """Show what is there, what is missing, and what does not hold yet."""
    order = bible.work_order()
    if as_json:
        templates = [template_shape(each) for each in order.templates]
        shape = {**order.to_json(), "templates": templates, "unmet": list(order.unmet)}
        echo_json({"work_order": shape})
        return
    about = [order.protagonist_name, order.genre, order.tone]
    echo(clean(" · ".join([order.project_title or "Untitled", *filter(None, about)])))
    echo(f"The foundation is {order.completion_percentage:.0f} % done.\n")
    rows = [
        (
            each.name.value,
            each.status.value,
            f"{float(each.share) * 100:.0f} %",
            _some(each.missing_fields),
            each.file_path,
        )
        for each in order.templates
    ]
    echo_table(("TEMPLATE", "STATUS", "FILLED", "MISSING", "FILE"), rows)
    for each in order.templates:
        _echo_challenges(each)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown or "-"


def template_report(template: Template, *, as_json: bool) -> None:
    """Show one template with its fields, where each came from, and its challenges."""
    if as_json:
        echo_json({"template": template_shape(template)})
        return
    echo(f"{template.title}: {template.status.value}  ({clean(template.file_path)})")
    for name, value in template.fields.items():
        source = template.sources.get(name, "")
        echo(f"\n{name}{f'  [{clean(source)}]' if source else ''}")
        for line in [value] if isinstance(value, str) else [f"- {each}" for each in value]:
            echo(f"  {clean(line)}")
    if template.missing_fields:
        echo(f"\nmissing: {', '.join(template.missing_fields)}")
    _echo_challenges(template)


def written_report(outcome: WriteOutcome, *, as_json: bool) -> None:
    """Show what became of a template that was written, and where its text before is kept."""
    template = outcome.template
    if as_json:
        shape: dict[str, Json] = {
            "template": template_shape(template),
            "path": outcome.path,
            "changed": outcome.changed,
            "version": outcome.version,
            "warnings": list(outcome.warnings),
        }
        echo_json(shape)
        return
    told = "was written" if outcome.changed else "already says so"
    echo(f"{clean(outcome.path)} {told}: {template.title} is {template.status.value}.")
    if template.missing_fields:
        echo(f"missing: {', '.join(template.missing_fields)}")
    _echo_challenges(template)
    for each in outcome.warnings:
        remark(f"Warning: {clean(each)}.")
    if outcome.version is not None:
        remark(f"The text before is kept: {clean(outcome.version)}")


def template_shape(template: Template) -> dict[str, Json]:
    """Return a template for programs, each failed check with its challenge."""
    failed = [
        {
            "check": each.check,
            "field": each.field,
            "reason": each.reason,
            "challenge": each.challenge,
            "alternatives": list(each.alternatives),
        }
        for each in template.failed_checks
    ]
    return {**template.to_json(), "failed_checks": failed}


def _echo_challenges(template: Template) -> None:
    for problem in template.problems:
        echo(clean(f"\n{template.name.value}: {problem}"))
    for each in template.failed_checks:
        echo(clean(f"\n{template.name.value} ({each.check}): {each.challenge}"))
