"""What the Foreman needs of the other rooms, as a handful of functions.

Whoever composes the pack wires them to the rooms. Nothing here does anything.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json


@dataclass(frozen=True, slots=True)
class Written:
    """What writing a template led to."""

    path: str
    status: str
    missing: tuple[str, ...] = ()
    # Why a field does not count as done, by field.
    failed: tuple[tuple[str, str], ...] = ()
    template: str = ""
    # What may be a slip.
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """What a notebook answered, and where it stands there."""

    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of prose a reply wants to put somewhere."""

    id: str
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class BibleHands:
    """What the Foreman does with the Story Bible."""

    # template, fields, source
    write: Callable[[str, Mapping[str, Json], str], Awaitable[Written]]
    # template, status the agent claims: the true state of it
    claim: Callable[[str, str], Awaitable[Written]]
    # the work order as the doors show it
    work_order: Callable[[], Json]
    # category, key, value: why a decision about a template's field is too weak, if it is
    weakness: Callable[[str, str, str], str | None]
    # category, key, value, source: fills the field a decision belongs to, if it belongs to one
    take: Callable[[str, str, str, str], Awaitable[Written | None]]
    # stage, key, template: has a template judged, and tells what is left to be mended
    judge: Callable[[Stage, str, str], Awaitable[Written]]


@dataclass(frozen=True, slots=True)
class MemoryHands:
    """What the Foreman does with decisions and notebooks."""

    # category, key, value, source
    save: Callable[[str, str, str, str], Awaitable[str]]
    # stage, key, notebook id, question
    ask_notebook: Callable[[Stage, str, str, str], Awaitable[Answered]]
    # id, title, role, path
    register: Callable[[str, str, str, str], Awaitable[str]]
    notebook_ids: Callable[[], Sequence[str]]
    # words: what decisions and notebooks say near them, each with where it is from
    recall: Callable[[str], Awaitable[Sequence[tuple[str, str]]]]


@dataclass(frozen=True, slots=True)
class WorkHands:
    """What the Foreman does with modes, voice, scenes and edits."""

    # mode: what the step into it led to, in words
    advance: Callable[[str], Awaitable[str]]
    # agent, strategy, index, notes
    select_winner: Callable[[str, str, int | None, str], Awaitable[Json]]
    # scene id, variant id
    select_variant: Callable[[str, str], Awaitable[Json]]
    # the parameters of the edit, what it is asked for by: asked again, it is made once
    apply_edit: Callable[[Mapping[str, Json], str], Awaitable[Json]]
    # target, prose, mode, run id
    propose: Callable[[str, str, str, str], Awaitable[Proposed]]


@dataclass(frozen=True, slots=True)
class Hands:
    """Everything the Foreman can do."""

    bible: BibleHands
    memory: MemoryHands
    work: WorkHands
