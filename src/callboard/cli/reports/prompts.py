"""Templates as they are on disk, and stored prompts as they were sent."""

import os
from collections.abc import Sequence
from pathlib import Path

from callboard.cli.output import (
    echo,
    echo_facts,
    echo_json,
    echo_table,
    echo_text,
    moment,
    number,
    remark,
)
from callboard.cli.reading import OpenJournal, matching, pick
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunRecord
from callboard.prompts import (
    PromptRecord,
    Template,
    TemplateRegistry,
    list_prompts,
    load_prompt,
)
from callboard.store.connection import Connection
from callboard.studio.overrides import template_layers
from callboard.studio.packs import installed_packs, load_pack
from callboard.studio.project import Project

_EVERY = 1_000_000


def open_registry(project: Project, folders: Sequence[Path]) -> TemplateRegistry:
    """Return the templates in force in a project."""
    packs = (*(load_pack(folder) for folder in folders), *installed_packs())
    return TemplateRegistry(template_layers(packs, project, os.environ))


def templates_report(project: Project, folders: Sequence[Path], *, as_json: bool) -> None:
    """List templates with the layer and file each comes from."""
    entries = open_registry(project, folders).entries()
    if as_json:
        listed = [
            {
                "name": entry.name,
                "origins": [
                    {"layer": o.layer, "path": o.path, "variant": o.variant and o.variant.value}
                    for o in entry.origins
                ],
            }
            for entry in entries
        ]
        echo_json({"templates": listed})
        return
    rows = [
        (entry.name, str(origin.variant or "every"), origin.layer, origin.path)
        for entry in entries
        for origin in entry.origins
    ]
    echo_table(("TEMPLATE", "TIER", "LAYER", "FILE"), rows)


def template_report(
    project: Project,
    folders: Sequence[Path],
    name: str,
    tier: str | None,
    *,
    only_text: bool,
    as_json: bool,
) -> None:
    """Show one template as it reads for a tier."""
    template = open_registry(project, folders).get(name, tier)
    if as_json:
        echo_json({"template": _template_shape(template)})
        return
    if not only_text:
        echo_facts(
            [
                ("template", template.name),
                ("origin", str(template.origin)),
                ("serves", str(template.origin.variant or "every tier")),
                ("places", ", ".join(dict.fromkeys(p.name for p in template.placeholders))),
                ("about", template.front.description),
            ]
        )
        echo("")
    echo_text(_text_of(template))


def records_report(journal: OpenJournal, run: RunRecord, limit: int, *, as_json: bool) -> None:
    """List what a run sent to models, oldest first."""
    records = journal.read(lambda connection: list_prompts(connection, run_id=run.id, limit=limit))[
        ::-1
    ]
    if as_json:
        shapes = [{name: getattr(r, name) for name in r.__dataclass_fields__} for r in records]
        echo_json({"run_id": run.id, "prompts": shapes})
    elif not records:
        remark(f"Run {run.id} has sent no prompts.")
    else:
        rows = [
            (
                record.id,
                record.step_key or "",
                record.agent_id or "",
                record.model_id,
                record.tier,
                number(record.total_tokens),
                "" if record.has_reply else "no reply",
            )
            for record in records
        ]
        echo_table(("PROMPT", "STEP", "AGENT", "MODEL", "TIER", "TOKENS", ""), rows)


def record_report(journal: OpenJournal, name: str, *, only_text: bool, as_json: bool) -> None:
    """Show a stored prompt: what was sent, made of what, and what came back."""

    def work(connection: Connection) -> PromptRecord:
        ids = [each.id for each in list_prompts(connection, limit=_EVERY)]
        return load_prompt(connection, pick(matching(ids, name), name, "prompt"))

    record = journal.read(work)
    if as_json:
        echo_json({"prompt": record_shape(record)})
    elif only_text:
        echo_text(record.text)
    else:
        echo_record(record)


def echo_record(record: PromptRecord) -> None:
    """Write a stored prompt: facts, layers, the exact text, and the reply."""
    limit = f" of {number(record.limit_tokens)}" if record.limit_tokens is not None else ""
    echo_facts(
        [
            ("prompt", record.id),
            ("sent", moment(record.created_at)),
            ("to", f"{record.model_id} ({record.tier.value if record.tier else 'no tier'})"),
            ("run", record.run_id or ""),
            ("step", record.step_key or ""),
            ("agent", record.agent_id or ""),
            ("tokens", f"{number(record.total_tokens)}{limit}"),
        ]
    )
    echo("\nMade of:")
    rows = [
        (
            line.name,
            line.origin,
            line.trust.value,
            number(line.tokens),
            "" if line.budget_tokens is None else number(line.budget_tokens),
            f"{line.outcome.value} {line.reason}".strip(),
        )
        for line in record.bill
    ]
    echo_table(("LAYER", "ORIGIN", "TRUST", "TOKENS", "BUDGET", "OUTCOME"), rows)
    echo("\nExactly as sent:\n")
    echo_text(record.text)
    if record.reply is not None:
        echo("\nThe reply:\n")
        echo_text(record.reply.text)
        for warning in record.reply.warnings:
            echo(f"  warning: {warning}")


def _text_of(template: Template) -> str:
    pieces = template.body.pieces
    return "".join(p if isinstance(p, str) else f"{{{{{p.name}}}}}" for p in pieces)


def _template_shape(template: Template) -> dict[str, Json]:
    origin = template.origin
    return {
        "name": template.name,
        "layer": origin.layer,
        "path": origin.path,
        "variant": origin.variant.value if origin.variant is not None else None,
        "placeholders": list(dict.fromkeys(p.name for p in template.placeholders)),
        "description": template.front.description,
        "text": _text_of(template),
    }


def record_shape(record: PromptRecord) -> dict[str, Json]:
    """Return a stored prompt for programs."""
    reply = record.reply
    return {
        "id": record.id,
        "created_at": record.created_at,
        "model_id": record.model_id,
        "tier": record.tier.value if record.tier is not None else None,
        "run_id": record.run_id,
        "step_key": record.step_key,
        "agent_id": record.agent_id,
        "total_tokens": record.total_tokens,
        "limit_tokens": record.limit_tokens,
        "messages": [{"role": m.role, "content": m.content} for m in record.messages],
        "bill": [line.to_json() for line in record.bill],
        "text": record.text,
        "reply": None
        if reply is None
        else {
            "text": reply.text,
            "replied_at": reply.replied_at,
            "usage": dict(reply.usage),
            "warnings": list(reply.warnings),
        },
    }
