"""What the Foreman remembers: decisions with their sources, and the writer's notebooks."""

from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from pydantic import Field

from callboard.api.operations import arguments_of
from callboard.api.project import Entry, Paged, Shown, Wanted, promise
from callboard.core.errors import NotFound
from callboard.knowledge.fact_rows import KBEntry
from callboard.packs.writers_factory.doors.routes.request import WritersFactory
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.memory import Notebook, NotebookPassage, operations
from callboard.packs.writers_factory.memory.scenery import TimelineItem

router = APIRouter(prefix="/factory", tags=["factory: memory"])

_MOST: Final = 10_000

CategoryQuery = Annotated[str | None, Query(max_length=60, description="Only of this category.")]
Key = Annotated[str, Path(max_length=200)]
NotebookId = Annotated[str, Path(max_length=64)]


Decision = promise(
    "Decision",
    "A decision, and whether it has become part of the graph.",
    KBEntry,
    leave=["history"],
    is_promoted=bool,
)
DecisionDetail = promise(
    "DecisionDetail",
    "A decision with what it was before, oldest first.",
    KBEntry,
    is_promoted=bool,
    history=list[Entry],
)


Decided = Annotated[Entry, arguments_of(operations.decide)]
Registered = Annotated[Entry, arguments_of(operations.add_notebook, notebook_id="id")]


class Enquiry(Wanted):
    """What is asked of a notebook."""

    question: Annotated[str, Field(min_length=1, max_length=2_000)]
    k: Annotated[int, Field(ge=1, le=50)] = 6


class Forgotten(Shown):
    """What is gone."""

    removed: str


@router.get("/kb", response_model=list[Decision])
async def list_decisions(
    factory: WritersFactory, page: Paged, category: CategoryQuery = None
) -> list[Entry]:
    """List what was decided, newest first."""
    return [_decision(each) for each in page.cut(factory.rooms.memory.decisions(category))]


@router.post("/kb", status_code=201, response_model=Decision)
async def save_decision(factory: WritersFactory, given: Decided) -> Entry:
    """Remember a decision; what it replaces stays in its history."""
    return _decision(await factory.perform(operations.decide, **given))


@router.get("/kb/{category}/{key}", response_model=DecisionDetail)
async def show_decision(factory: WritersFactory, category: Key, key: Key) -> Entry:
    """Show a decision with its history."""
    facts = factory.rooms.memory.facts
    found = _require(factory, category, key)
    history = [{**asdict(each), "state": each.state.value} for each in facts.history(found.id)]
    return {**_decision(found), "history": history}


@router.delete("/kb/{category}/{key}")
async def forget_decision(factory: WritersFactory, category: Key, key: Key) -> Forgotten:
    """Forget a decision and its history."""
    await factory.perform(operations.forget_decision, category, key)
    return Forgotten(removed=f"{category}/{key}")


@router.get("/timeline")
async def show_timeline(factory: WritersFactory, page: Paged) -> list[TimelineItem]:
    """Show every decision with its source, newest first, also those that were replaced."""
    return page.cut(factory.rooms.memory.timeline(_MOST))


@router.get("/notebooks")
async def list_notebooks(
    factory: WritersFactory, page: Paged, role: Annotated[str | None, Query(max_length=60)] = None
) -> list[Notebook]:
    """List the registered notebooks."""
    return page.cut(factory.rooms.notebooks.list(role))


@router.post("/notebooks", status_code=201)
async def register_notebook(factory: WritersFactory, given: Registered) -> Notebook:
    """Register a folder as a notebook, or change one, and read what is in it."""
    return await factory.perform(operations.add_notebook, **given)


@router.get("/notebooks/{notebook_id}")
async def show_notebook(factory: WritersFactory, notebook_id: NotebookId) -> Notebook:
    """Show a notebook."""
    return factory.rooms.notebooks.get(notebook_id)


@router.post("/notebooks/{notebook_id}/query")
async def query_notebook(
    factory: WritersFactory, notebook_id: NotebookId, wanted: Enquiry
) -> list[Entry]:
    """Find the passages that bear on a question, best first; none means not found there."""
    found = await factory.rooms.notebooks.query(notebook_id, wanted.question, k=wanted.k)
    return [_passage(each) for each in found]


@router.delete("/notebooks/{notebook_id}")
async def unregister_notebook(factory: WritersFactory, notebook_id: NotebookId) -> Forgotten:
    """Forget a notebook; its files stay."""
    await factory.perform(operations.remove_notebook, notebook_id)
    return Forgotten(removed=notebook_id)


def _decision(entry: KBEntry) -> Entry:
    told = {name: value for name, value in asdict(entry).items() if name != "history"}
    return {**told, "state": entry.state.value, "is_promoted": entry.is_promoted}


def _require(factory: Factory, category: str, key: str) -> KBEntry:
    found = factory.rooms.memory.facts.get(category, key)
    if found is None:
        raise NotFound(
            f"Nothing was decided about {category}/{key}",
            fix="List the decisions to see their categories and keys.",
            category=category,
            key=key,
        )
    return found


def _passage(passage: NotebookPassage) -> Entry:
    return {**asdict(passage), "place": passage.place}
