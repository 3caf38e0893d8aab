"""Facts: what a turn has done, gathered by code in words users know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.turn.acting.analyzing import NO_DATA
from callboard.choreography.turn.acting.steps import table_words
from callboard.choreography.turn.domain import (
    PresentsContent,
    PresentsRows,
)
from callboard.choreography.turn.shapes import StepResult, StepStatus, StepType, ThinkStep
from callboard.choreography.turn.work import TurnWork

MOST_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Listing:
    """Something listed: its heading, some lines, and how many there are in all."""

    title: str
    lines: tuple[str, ...]
    total: int

    def text(self, most: int = MOST_LINES) -> str:
        """Return the list; what is too much is counted."""
        shown = self.lines[:most]
        rest = max(self.total, len(self.lines)) - len(shown)
        return "\n".join([self.title, *shown, *rest_line(rest, len(self.lines) - len(shown))])


def rest_line(rest: int, kept: int) -> list[str]:
    """Return how much of a list is not shown, and how to see it."""
    if rest <= 0:
        return []
    if kept <= 0:
        return [f"… and {rest} more: ask for a part of them, by a name or a place, to see those"]
    return [f"… and {rest} more: say “more” to see them"]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft as the user reads it."""

    label: str
    text: str


@dataclass
class ReplyFacts:
    """Everything a reply may say."""

    done: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    listings: list[Listing] = field(default_factory=list[Listing])
    drafts: list[Drafted] = field(default_factory=list[Drafted])
    not_done: list[str] = field(default_factory=list[str])
    assumptions: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    @property
    def has_failed(self) -> bool:
        """Whether something was not done."""
        return bool(self.not_done)

    def unshown(self) -> list[str]:
        """Return the lines of lists that a reply has no room for, each list under its heading."""
        rest: list[str] = []
        for each in self.listings:
            lines = each.lines[MOST_LINES:]
            missing = max(each.total, len(each.lines)) - len(each.lines)
            rest += [each.title, *lines, *rest_line(missing, 0)] if lines else []
        return rest

    def text(self) -> str:
        """Return the facts as a model is shown them."""
        parts = [f"done: {each}" for each in self.done]
        parts += [f"answer: {each}" for each in self.said]
        parts += [each.text() for each in self.listings]
        parts += [f"draft (not saved): {each.text}" for each in self.drafts]
        parts += [f"not done: {each}" for each in self.not_done]
        parts += [f"assumed: {each}" for each in self.assumptions]
        parts += [f"note: {each}" for each in self.notes]
        return "\n".join(parts)


async def gather_facts(work: TurnWork, only: Sequence[str] | None = None) -> ReplyFacts:
    """Return what a turn did, by the results of its steps."""
    left_out = [f"{each} (left out of the plan)" for each in dict.fromkeys(work.left_out)]
    facts = ReplyFacts(assumptions=list(dict.fromkeys(work.assumptions)), not_done=left_out)
    steps = [] if work.plan is None else work.plan.steps
    feeds = _only_feeding(work, steps)
    for step in steps:
        result = work.results.get(step.id)
        if result is None or (only is not None and step.id not in only):
            continue
        if result.status in (StepStatus.FAILED, StepStatus.SKIPPED):
            reason = "; ".join(result.errors)
            facts.not_done.append(f"{step.description} ({reason})" if reason else step.description)
        elif result.status is StepStatus.AWAITING_CONFIRMATION:
            facts.not_done.append(f"{step.description} (waits for your word)")
        else:
            await _tell(work, step, result, facts, is_feeding=step.id in feeds)
    # A step that was planned anew and failed again is one thing that was not done.
    facts.not_done = list(dict.fromkeys(facts.not_done))
    return facts


def _only_feeding(work: TurnWork, steps: Sequence[ThinkStep]) -> set[str]:
    """Return reads that only served a later step: the user asked for what came of them."""
    last = max((step.group for step in steps), default=0)
    return {
        step.id
        for step in steps
        if step.step_type is StepType.READ
        and step.group < last
        and any(e.step_type is not StepType.READ and e.group > step.group for e in steps)
    }


async def _tell(
    work: TurnWork, step: ThinkStep, result: StepResult, facts: ReplyFacts, *, is_feeding: bool
) -> None:
    match step.step_type:
        case StepType.READ:
            if not is_feeding:
                await _tell_rows(work, result, facts)
        case StepType.ANALYZE:
            await _tell_analysis(work, result, facts)
        case StepType.GENERATE:
            for each in result.result["contents"]:
                shown = show_content(work, str(result.result["content_type"]), each["payload"])
                facts.drafts.append(Drafted(str(each["label"]), shown))
        case StepType.WRITE:
            facts.done.append(result.summary)
            facts.notes += [
                str(each) for each in cast("list[Any]", result.result.get("notes") or [])
            ]


async def _tell_rows(work: TurnWork, result: StepResult, facts: ReplyFacts) -> None:
    data = result.result
    total, rows = int(data["total"]), cast("list[dict[str, Any]]", data["rows"])
    words = table_words(work.domain, str(data["table"]))
    if data.get("is_count"):
        facts.said.append(f"There are {total} {words.within} {words.place}.")
    elif total == 0:
        facts.said.append(f"I found nothing {words.within} {words.place}.")
    else:
        lines = await list_lines(work, str(data["table"]), rows)
        facts.listings.append(Listing(f"{_title(words.place)} ({total}):", tuple(lines), total))


def _title(place: str) -> str:
    return f"{place[:1].upper()}{place[1:]}"


async def _tell_analysis(work: TurnWork, result: StepResult, facts: ReplyFacts) -> None:
    data = result.result
    if result.status is StepStatus.EMPTY:
        facts.said.append(NO_DATA)
        return
    if data.get("analysis"):
        facts.said.append(str(data["analysis"]))
    computed = cast("Mapping[str, Any]", data.get("computed") or {})
    before = len(facts.listings) + len(facts.said)
    for name, value in computed.items():
        title = _title(table_words(work.domain, f"{data['function']}.{name}").place)
        if isinstance(value, list):
            whole = cast("list[Any]", value)
            items = [cast("dict[str, Any]", e) for e in whole if isinstance(e, dict)]
            lines = await list_lines(work, f"{data['function']}.{name}", items)
            if lines:
                facts.listings.append(Listing(f"{title}:", tuple(lines), len(lines)))
        elif title and isinstance(value, str | int | float) and not isinstance(value, bool):
            facts.said.append(f"{title}: {_number(value)}")
    if computed and len(facts.listings) + len(facts.said) == before:
        facts.said.append("Nothing fits.")
    if not computed:
        matches = [f"- {each['label']}" for each in cast("list[Any]", data.get("matches") or [])]
        if matches:
            facts.listings.append(Listing("Matches:", tuple(matches), len(matches)))


async def list_lines(work: TurnWork, table: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return rows as lines: the domain's own way, else a name and what matters beside it."""
    if isinstance(work.domain, PresentsRows):
        own = await work.domain.present_rows(work.who, table, rows)
        if own is not None:
            return list(own)
    kind = work.entity_type(table)
    return [_line(work.label(kind.name if kind is not None else table, row), row) for row in rows]


_BESIDE: Final = ("quantity", "unit", "date", "plan_date", "due_at", "status", "missing")


def _line(label: str, row: Mapping[str, Any]) -> str:
    beside: list[str] = []
    for name in _BESIDE:
        value = row.get(name)
        if isinstance(value, list):
            names = [_name(each) for each in cast("list[Any]", value)]
            beside += [f"{name}: {', '.join(names)}"] if names else []
        elif value not in (None, ""):
            beside.append(_number(value))
    shown = label or _number(next(iter(row.values()), ""))
    return f"- {shown}" + (f" ({' '.join(beside)})" if beside else "")


def _name(value: Any) -> str:
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return str(pairs.get("name") or pairs.get("label") or next(iter(pairs.values()), ""))
    return str(value)


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def show_content(work: TurnWork, content_type: str, payload: Mapping[str, Any]) -> str:
    """Return a draft as text: the domain's own way, else field by field."""
    if isinstance(work.domain, PresentsContent):
        return work.domain.present_content(content_type, payload)
    label = work.label(content_type, payload)
    lines = [label]
    for name, value in payload.items():
        if value in (None, "", [], {}) or value == label:
            continue
        title = name.replace("_", " ").capitalize()
        if isinstance(value, list):
            lines.append(f"{title}:")
            lines += [f"- {_flat(each)}" for each in cast("list[Any]", value)]
        else:
            lines.append(f"{title}: {_flat(value)}")
    return "\n".join(lines)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value).values()
        return " ".join(_number(each) for each in parts if each not in (None, "", []))
    return _number(value)
