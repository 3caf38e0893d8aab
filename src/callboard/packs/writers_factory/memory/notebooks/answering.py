"""Answering from a notebook: only what its passages say, with citations that code has checked.

A citation holds if its quotation stands in the passage. An answer without one that holds is
replaced by the passages themselves. A small model only picks a passage by its number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.answers import Answer
from callboard.choreography.questions import Question, ask
from callboard.choreography.staffing import is_constrained
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.packs.writers_factory.memory.decisions import without_controls
from callboard.packs.writers_factory.memory.notebooks.provider import NOT_FOUND, NotebookPassage
from callboard.packs.writers_factory.memory.notebooks.shelf import Notebooks
from callboard.packs.writers_factory.model import FOREMAN
from callboard.packs.writers_factory.workspace import Workspace
from callboard.replies.evidence import holds_quote

PICK: Final = "memory/notebook_pick"
_QUOTED: Final = 2
_QUOTE_CHARS: Final = 400
_SMALL_CHARS: Final = 240


class CitationSaid(Answer):
    """Words of a passage, by the number of the passage."""

    passage: int
    quote: str


class AnswerSaid(Answer):
    """What a model makes of the passages of a notebook."""

    answer: str
    citations: tuple[CitationSaid, ...]


_FROM_NOTEBOOK: Final = Question("memory/notebook_answer", AnswerSaid)


@dataclass(frozen=True, slots=True)
class NotebookCitation:
    """Words of a notebook and where they stand."""

    notebook_id: str
    path: str
    line_start: int
    line_end: int
    quote: str

    @property
    def place(self) -> str:
        """File and lines."""
        return f"{self.path}:{self.line_start}-{self.line_end}"


@dataclass(frozen=True, slots=True)
class NotebookAnswer:
    """An answer from a notebook: untrusted text, never looked through for actions."""

    notebook_id: str
    text: str
    citations: tuple[NotebookCitation, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether the notebook said anything."""
        return bool(self.citations)

    def content(self) -> Content:
        """Return the answer as something an agent may be shown."""
        return Content(self.text, f"notebook:{self.notebook_id}", Trust.UNTRUSTED)


async def answer_from_notebook(
    stage: Stage,
    key: str,
    notebook_id: str,
    question: str,
    *,
    notebooks: Notebooks | None = None,
    agent: str = FOREMAN,
    model: str | None = None,
) -> NotebookAnswer:
    """Answer a question from one notebook, or say that it is not found there."""
    shelf = notebooks or Notebooks(Workspace(stage.studio))
    notebook = shelf.get(notebook_id)

    async def look() -> Json:
        found = await shelf.query(notebook.id, question)
        return [
            [each.path, each.line_start, each.line_end, each.text, each.score] for each in found
        ]

    rows = await stage.step(f"{key}/passages", look, effect=Effect.IDEMPOTENT)
    passages = [
        NotebookPassage(row[0], row[1], row[2], row[3], notebook.id, row[4])
        for row in cast("list[list[Any]]", rows)
    ]
    if not passages:
        return NotebookAnswer(notebook.id, NOT_FOUND)
    who = stage.studio.repertoire.agent(agent, stage.run.choreography.partition("/")[0])
    if model is None and is_constrained(stage.studio, who):
        return await _pick(stage, key, agent, question, passages)
    said = await ask(
        stage,
        f"{key}/answer",
        agent,
        _FROM_NOTEBOOK,
        model=model,
        question=Content(question, "question", Trust.UNTRUSTED),
        title=Content(notebook.title, "notebook", Trust.UNTRUSTED),
        passages=_numbered(passages),
    )
    return check_answer(said, passages)


def check_answer(said: AnswerSaid, passages: Sequence[NotebookPassage]) -> NotebookAnswer:
    """Keep the citations that hold; without any, let the passages speak."""
    kept: list[NotebookCitation] = []
    for each in said.citations:
        quote = " ".join(without_controls(each.quote).split())
        if not quote or not 1 <= each.passage <= len(passages):
            continue
        if holds_quote(passages[each.passage - 1].text, quote):
            kept.append(_citation(passages[each.passage - 1], quote))
    text = " ".join(without_controls(said.answer).split())
    if not kept or not text:
        return quote_passages(passages[:_QUOTED])
    places = "\n".join(f'- {each.place} "{each.quote}"' for each in kept)
    return NotebookAnswer(passages[0].notebook_id, f"{text}\n{places}", tuple(kept))


def quote_passages(passages: Sequence[NotebookPassage]) -> NotebookAnswer:
    """Answer with the words of the notebook alone."""
    cited = tuple(_citation(each, " ".join(each.text.split())[:_QUOTE_CHARS]) for each in passages)
    text = "\n".join(f'- {each.place} "{each.quote}"' for each in cited)
    return NotebookAnswer(passages[0].notebook_id, text, cited)


async def _pick(
    stage: Stage, key: str, agent: str, question: str, passages: Sequence[NotebookPassage]
) -> NotebookAnswer:
    """Have a small model name a passage; code quotes it, and the best one if it is another."""
    if len(passages) == 1:
        return quote_passages(passages)
    numbers = [str(number) for number in range(1, len(passages) + 1)]
    choice = await stage.choose(
        f"{key}/pick",
        agent,
        numbers,
        prompt=PICK,
        question=Content(question, "question", Trust.UNTRUSTED),
        passages=_numbered(passages, most_chars=_SMALL_CHARS),
    )
    picked = passages[int(choice) - 1]
    others = [each for each in passages if each is not picked]
    return quote_passages([picked, *others][:_QUOTED])


def _citation(passage: NotebookPassage, quote: str) -> NotebookCitation:
    return NotebookCitation(
        passage.notebook_id, passage.path, passage.line_start, passage.line_end, quote
    )


def _numbered(passages: Sequence[NotebookPassage], *, most_chars: int | None = None) -> Content:
    lines = [
        f"{number}. ({each.place}) {' '.join(each.text.split())[:most_chars]}"
        for number, each in enumerate(passages, start=1)
    ]
    return Content("\n".join(lines), "notebook", Trust.UNTRUSTED)
