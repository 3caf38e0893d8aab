"""Pages: what of the project somebody is shown because a job or a message is about it.

A pack finds them, the most useful first; here they are cut to what a model's tier affords and put
on record. They are material, never instructions, and each keeps the path it came from.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.engine.scope import StepScope
from callboard.prompts import Layer, TokenCounter
from callboard.replies.evidence import answers, keys_of, quotable_sentences
from callboard.studio.studio import Studio

PAGES: Final = "pages"
"""Under which name a template places them."""

# A page shorter than this says nothing any more.
_FEWEST_TOKENS: Final = 24
_LEFT_OUT: Final = "[…]"


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A text of the project and what it is to the job; some matter most at their end."""

    path: str
    title: str
    text: str
    keeps_end: bool = False

    def content(self) -> Content:
        """Return it as it goes into a prompt."""
        return Content(f"{self.title}\n\n{self.text}", self.origin, Trust.UNTRUSTED)

    @property
    def origin(self) -> str:
        """Where it comes from; what code measured comes from no file."""
        return f"file:{self.path}" if self.path else "code"


@dataclass(frozen=True, slots=True)
class PageWish:
    """What a job is about: its words, its arguments, and which kinds of pages it asks for."""

    about: str
    kinds: tuple[str, ...] = ()
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class PageFinder:
    """How a pack finds pages: the kinds it knows, and the function, which is called on a thread."""

    kinds: tuple[str, ...]
    find: Callable[[Studio, PageWish], Sequence[ProjectPage]]


@dataclass(frozen=True, slots=True)
class Telling:
    """How the project is told, for prose that code pieces together with a small model.

    `retell` puts a text into the project's tense, `is_told` says whether a sentence stands in it
    already; both may read the project and are called on a thread.
    """

    retell: Callable[[Studio, str], str]
    is_told: Callable[[Studio, str], bool]


async def find_pages(
    stage: Stage, key: str, finder: PageFinder, wish: PageWish, limit_tokens: int
) -> tuple[ProjectPage, ...]:
    """Find pages once and cut them; journaled, for the files may be others on a resume."""
    counter = stage.studio.counter

    def find() -> tuple[ProjectPage, ...]:
        return fitted(finder.find(stage.studio, wish), limit_tokens, counter)

    async def act(scope: StepScope) -> Json:
        found = await asyncio.to_thread(find)
        scope.preview = ", ".join(each.path or each.title for each in found) or "nothing found"
        return [asdict(each) for each in found]

    stored = cast("list[dict[str, Any]]", await stage.run.step(key, act, effect=Effect.PURE))
    return tuple(ProjectPage(**each) for each in stored)


def fitted(
    pages: Sequence[ProjectPage], limit_tokens: int, counter: TokenCounter
) -> tuple[ProjectPage, ...]:
    """Return pages cut to a budget: each may have half of what is left, the last all of it."""
    left = limit_tokens
    kept: list[ProjectPage] = []
    for number, page in enumerate(pages):
        is_last = number == len(pages) - 1
        room = left if is_last else max(left // 2, min(left, _FEWEST_TOKENS * 4))
        cut = _cut(page, room - counter.count(page.title), counter)
        if cut is not None:
            kept.append(cut)
            left -= counter.count(cut.title) + counter.count(cut.text)
    return tuple(kept)


def layers_of(pages: Sequence[ProjectPage]) -> tuple[Layer, ...]:
    """Return pages as layers of a prompt; what does not fit goes first from the end."""
    return tuple(
        Layer(f"page {number}", page.content(), may_cut=True)
        for number, page in enumerate(pages, start=1)
    )


def together(pages: Sequence[ProjectPage]) -> Content:
    """Return pages as one text, for a model that is shown little."""
    text = "\n\n".join(page.text for page in pages)
    return Content(text, ", ".join(page.origin for page in pages) or PAGES, Trust.UNTRUSTED)


def lines_for(question: str, pages: Sequence[ProjectPage], most: int) -> dict[str, str]:
    """Return the lines of pages that can answer a question with their files, the best first."""
    asked = keys_of(question)
    found = {
        line: page.path
        for page in pages
        for line in quotable_sentences(page.text)
        if answers(question, line)
    }
    best = sorted(found, key=lambda line: -len(asked & keys_of(line)))
    return {line: found[line] for line in best[:most]}


def _cut(page: ProjectPage, limit_tokens: int, counter: TokenCounter) -> ProjectPage | None:
    text = page.text.strip()
    if not text or limit_tokens < _FEWEST_TOKENS:
        return None
    if counter.count(text) <= limit_tokens:
        return replace(page, text=text)
    pieces = [piece for piece in text.split("\n") if piece.strip()]
    kept: list[str] = []
    room = limit_tokens - counter.count(_LEFT_OUT)
    for piece in reversed(pieces) if page.keeps_end else pieces:
        size = counter.count(piece) + 1
        if size > room:
            break
        kept.append(piece)
        room -= size
    if not kept:
        return None
    if page.keeps_end:
        return replace(page, text="\n".join([_LEFT_OUT, *reversed(kept)]))
    return replace(page, text="\n".join([*kept, _LEFT_OUT]))
