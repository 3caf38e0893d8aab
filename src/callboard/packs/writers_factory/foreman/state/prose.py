"""The session state in sentences, and a work order read back from its markup in either shape."""

from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.foreman.state.session import ForemanState, TemplateLine
from callboard.packs.writers_factory.foreman.state.sizes import StateSection, sections_of, some_of

_MOST: Final = 10


def describe(state: ForemanState) -> str:
    """Return the state as a page a writer can read."""
    return "\n\n".join(part for part in _parts(state) if part)


def _parts(state: ForemanState) -> Iterator[str]:
    sections = sections_of(state)
    title = state.project.title or "This book"
    yield f"{title} is in {_named(state.mode)}, {state.completion_pct} % done."
    if state.project.protagonist:
        yield f"It is about {state.project.protagonist}."
    if StateSection.WORK_ORDER in sections:
        yield _templates(state)
    # The templates above name what is missing in them already.
    elif state.unmet and state.next_mode:
        yield f"Before {_named(state.next_mode)}: {'; '.join(state.unmet)}."
    for each in state.overrides:
        unmet = some_of(each.unmet) or "something"
        risk = f" {each.risk}" if each.risk else ""
        yield f"You went on to {_named(each.entered)} with {unmet} unmet.{risk}"
    if StateSection.VOICE in sections:
        yield _voice(state)
    if StateSection.OUTLINE in sections and state.outline.planned:
        yield _outline(state)
    if state.active:
        yield "Open now: " + ", ".join(f"{key} {value}" for key, value in state.active.items())
    yield _listed("Alerts", [f"{each.check}: {each.finding}" for each in state.alerts])
    yield _listed(
        "What is decided",
        [f"{each.key.replace('_', ' ')}: {each.value}" for each in state.knowledge],
    )
    yield _listed("What you asked to be remembered", [each.text for each in state.memory])
    yield _listed(
        "Notebooks", [f"{each.title or each.id} ({each.role})" for each in state.notebooks]
    )


def _templates(state: ForemanState) -> str:
    lines: list[str] = []
    for each in state.templates:
        name = each.name.replace("_", " ")
        missing = some_of(field.replace("_", " ") for field in each.missing)
        lines.append(
            f"- {name}: {each.status.replace('_', ' ')}"
            + (f", missing {missing}" if missing else "")
        )
        lines += [f"  - {field.replace('_', ' ')}: {why}" for field, why in each.open_checks]
    return "\n".join(lines)


def _voice(state: ForemanState) -> str:
    voice = state.voice
    if voice.locked:
        agent, strategy = voice.winning_agent, voice.winning_strategy
        return f"The voice is locked: {agent or 'unnamed'}, {strategy or 'no strategy'}."
    done = some_of(voice.steps)
    return f"The voice is not locked; done so far: {done or 'nothing'}."


def _outline(state: ForemanState) -> str:
    outline = state.outline
    told = f"{outline.drafted} of {outline.planned} scenes are drafted"
    return f"{told}; next is {outline.next_scene}." if outline.next_scene else f"{told}."


def _listed(heading: str, lines: list[str]) -> str:
    if not lines:
        return ""
    shown = [f"- {line}" for line in lines[:_MOST]]
    if len(lines) > _MOST:
        shown.append(f"- and {len(lines) - _MOST} more")
    return "\n".join([f"{heading}:", *shown])


def _named(mode: str) -> str:
    return mode.replace("_", " ")


def read_templates(markup: str) -> tuple[TemplateLine, ...]:
    """Return the templates a state names."""
    try:
        root = ElementTree.fromstring(markup)  # noqa: S314 - our own markup, no entities in it
    except ElementTree.ParseError as error:
        raise InvalidInput(f"This is no session state: {error}") from error
    return tuple(_template(each) for each in root.iterfind(".//work_order/template"))


def _template(element: ElementTree.Element) -> TemplateLine:
    def names(key: str) -> tuple[str, ...]:
        text = element.get(key) or element.findtext(key) or ""
        return tuple(part.strip() for part in text.split(",") if part.strip())

    return TemplateLine(
        name=(element.get("name") or "").strip().lower().replace(" ", "_"),
        status=element.get("status") or element.findtext("status") or "",
        completed=names("completed"),
        missing=names("missing"),
    )
