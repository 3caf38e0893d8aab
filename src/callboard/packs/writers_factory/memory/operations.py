"""What can be done with the memory: decisions, notebooks, conflicts and the graph."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.knowledge.facts import KBEntry
from callboard.operations import AGENT, Does, operation
from callboard.packs.writers_factory.action import CHALLENGE, Cause, Done, Filled, Words
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.bible.decisions import take_decision, target_of, weakness_of
from callboard.packs.writers_factory.bible.filings import (
    FiledDecision,
    FiledTemplate,
    Filing,
    Filings,
    filed_fields,
)
from callboard.packs.writers_factory.bible.operations import tell_template, why
from callboard.packs.writers_factory.bible.values import as_list
from callboard.packs.writers_factory.memory.consolidation import Consolidator
from callboard.packs.writers_factory.memory.decisions import MemoryCategory, read_decision
from callboard.packs.writers_factory.memory.ledger import ConflictRecord
from callboard.packs.writers_factory.memory.notebooks import (
    Notebook,
    Notebooks,
    SyncReport,
    answer_from_notebook,
)
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.model import ARCHITECT, VOICE_CALIBRATION
from callboard.packs.writers_factory.workspace import Workspace

# Where a decision about a field of the Story Bible also fills it.
_FOUNDATION = (ARCHITECT, VOICE_CALIBRATION)


class WeakDecision(InvalidInput):
    """A decision was to be kept that would not hold the story up."""

    code = "weak_decision"


@dataclass(frozen=True, slots=True)
class Enquiry:
    """Where a question to a notebook is asked: its answer takes steps of the run it belongs to."""

    stage: Stage
    key: str
    notebooks: Notebooks


@operation(does=Does.READS, who=(AGENT,))
async def query_notebook(enquiry: Enquiry, notebook_id: Filled, query: Filled) -> Done:
    """Ask one of the writer's notebooks and get an answer with its sources."""
    known = [each.id for each in enquiry.notebooks.list()]
    if notebook_id not in known:
        raise NotFound(
            f"There is no notebook {notebook_id!r}",
            fix=f"Registered: {', '.join(known) or 'none'}. Register one, talk it through "
            "without a source, or go on with the least that is needed.",
            notebook_id=notebook_id,
        )
    found = await answer_from_notebook(
        enquiry.stage, enquiry.key, notebook_id, query, notebooks=enquiry.notebooks
    )
    places = [each.place for each in found.citations]
    told = f"{found.text} Sources: {'; '.join(places)}" if places else found.text
    return Done(told, {"answer": found.text, "citations": [*places]})


@operation(
    who=(AGENT,),
    example={
        "category": "character",
        "key": "ines_fatal_flaw",
        "value": "She decides for others",
        "source": "writer_stated",
    },
)
async def save_decision(
    workspace: Workspace,
    cause: Cause,
    category: MemoryCategory,
    key: Filled,
    value: Filled,
    source: Annotated[Words, Field(description="writer_stated, brainstorm or notebook:<id>")] = "",
) -> Done:
    """Keep a decision, preference or correction for good."""
    return await keep_decision(workspace, cause, category, key, value, source)


async def keep_decision(
    workspace: Workspace, cause: Cause, category: str, key: str, value: str, said: str
) -> Done:
    """Keep what an agent says was decided, unless it is what a template could not stand on."""
    bible = Bible(workspace, Notebooks(workspace).labels)
    weak = weakness_of(bible, category, key, value)
    if weak is not None:
        raise WeakDecision(
            f"{CHALLENGE} {why(weak)}",
            fix="Agree on a stronger one with the writer, then save that.",
            key=key,
        )
    source, memory = cause.source(said), Memory(workspace)
    new, known = read_decision(category, key, value), bible.project().protagonist_name
    target = target_of(category, key, known) if cause.mode in _FOUNDATION else None
    before = memory.facts.get(new.category, new.key)
    await Filings(workspace).begin(
        cause,
        None if target is None else filed_fields(bible, target.template, target.holding(value)),
        FiledDecision(
            new.category,
            new.key,
            new.value,
            None if before is None else before.value,
            "" if before is None else before.source,
        ),
    )
    entry = await memory.save_decision(category, key, value, source)
    told = f"saved {category} {key}"
    if target is not None:
        outcome = await take_decision(bible, category, key, value, source=source)
        if outcome is not None:
            return tell_template(bible, outcome.template, outcome.path, told)
    return Done(told, {"id": str(entry.id), "source": source})


@operation(post="/filings/undo")
async def take_back(workspace: Workspace, filing_id: str = "") -> Done:
    """Take back what the Foreman filed last, or one filing by its id; what stood before returns."""
    filings = Filings(workspace)
    found = filings.last() if not filing_id else filings.find(filing_id)
    if found is None or found.is_taken_back:
        raise NotFound(
            f"Filing {filing_id!r} is not there" if filing_id else "There is nothing to take back",
            fix="`callboard factory filed` lists what the Foreman filed.",
        )
    if found.template is not None:
        await _restore_template(Bible(workspace), found.template)
    if found.decision is not None:
        await _restore_decision(Memory(workspace), found.decision)
    await filings.end(found)
    return Done(f"Taken back: {found.told}", {"filing": found.id})


@operation(does=Does.READS, get="/filings")
async def list_filings(workspace: Workspace) -> tuple[Filing, ...]:
    """List what the Foreman filed, the newest last, with what stood there before."""
    return Filings(workspace).all()


async def _restore_template(bible: Bible, filed: FiledTemplate) -> None:
    now = bible.template(filed.template).fields
    back: dict[str, Json] = {}
    for name, value in filed.after.items():
        before = filed.before.get(name, [] if isinstance(value, list) else "")
        if isinstance(value, list) and isinstance(before, list):
            # Others may have added to the list since; only what was filed goes.
            added = set(as_list(value)) - set(as_list(before))
            back[name] = [each for each in as_list(now.get(name, "")) if each not in added]
        elif now.get(name, "") in (value, before):
            back[name] = before
        else:
            raise Conflict(
                f"{filed.template} {name} was changed since; it says {now.get(name, '')!r}",
                fix="Set it as you want it: `callboard factory template`.",
            )
    source = next(iter(filed.sources.values()), "writer_stated")
    await bible.write(filed.template, back, source=source)


async def _restore_decision(memory: Memory, filed: FiledDecision) -> None:
    known = memory.facts.get(filed.category, filed.key)
    if known is None or known.value not in (filed.value, filed.before):
        return
    if filed.before is None:
        await memory.forget(filed.category, filed.key)
    else:
        await memory.save_decision(filed.category, filed.key, filed.before, filed.before_source)


@operation(who=(AGENT,))
async def register_notebook(
    notebooks: Notebooks,
    notebook_id: Filled,
    title: Filled,
    role: Annotated[
        Filled, Field(description="world_building, character_voice or craft_reference")
    ],
    path: Filled,
) -> Done:
    """Make a folder of the project a notebook that can be asked."""
    made = await notebooks.register(notebook_id, title, role, path)
    return Done(f"notebook {made.id} ({made.role}) reads {made.path}")


@operation()
async def decide(
    memory: Memory, category: str, key: str, value: str, source: str = "writer_stated"
) -> KBEntry:
    """Remember a decision of the writer; what it replaces stays in its history."""
    return await memory.save_decision(category, key, value, source)


@operation()
async def forget_decision(memory: Memory, category: str, key: str) -> KBEntry:
    """Forget a decision and its history."""
    found = memory.facts.get(category, key)
    if found is None:
        raise NotFound(
            f"Nothing was decided about {category}/{key}",
            fix="List the decisions to see their categories and keys.",
            category=category,
            key=key,
        )
    await memory.forget(category, key)
    return found


@operation(undo="remove_notebook")
async def add_notebook(
    notebooks: Notebooks,
    notebook_id: str,
    role: str,
    path: Annotated[str, Field(min_length=1, max_length=4_096)],
    title: str = "",
) -> Notebook:
    """Register a folder as a notebook, wherever the writer keeps it, and read what is in it."""
    return await notebooks.register(notebook_id, title, role, path, by="writer")


@operation(undo="add_notebook")
async def remove_notebook(notebooks: Notebooks, notebook_id: str) -> Notebook:
    """Forget a notebook; its files stay."""
    known = notebooks.get(notebook_id)
    await notebooks.unregister(known.id)
    return known


@operation(post="/notebooks/{notebook_id}/sync")
async def sync_notebook(
    notebooks: Notebooks, notebook_id: Annotated[str, Field(max_length=64)]
) -> SyncReport:
    """Read what changed in a notebook, and say what could not be read."""
    return await notebooks.sync(notebook_id)


@operation()
async def resolve_conflict(
    consolidator: Consolidator,
    conflict_id: str,
    decision: Literal["keep_existing", "accept_new", "both_with_scope"] | str,
    scope: dict[str, Json] | None = None,
) -> ConflictRecord:
    """Decide a contradiction; graph and memory follow."""
    return await consolidator.resolve(conflict_id, decision, scope, by="writer")


@operation()
async def export_graph(consolidator: Consolidator, folder: Path | None = None) -> tuple[Path, Path]:
    """Write graph and conflicts as JSON files; nothing reads them back."""
    return consolidator.export(folder)
