"""Code of the dry run: routes through the bound book, their pages, and what was not in them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.book.model import Book, SectionKind
from callboard.packs.questfoundry.book.playing import ReaderPosition, begin, is_end, offers, take
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.harvest import file_cards
from callboard.packs.questfoundry.steps.reports import Rows, said_in
from callboard.packs.questfoundry.steps.views import bound_book

_MOST_PLACES: Final = 20_000
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
_LOOP_OF: Final = {
    "tone_wobble": "style_tune_up",
    "codex_invite": "codex_expansion",
    "nav_bug": "binding_run",
    "choice_ambiguity": "style_tune_up",
    "gate_friction": "story_spark",
    "recap_needed": "story_spark",
    "pace": "story_spark",
    "leak_risk": "style_tune_up",
    "translation_glitch": "translation_pass",
    "accessibility": "binding_run",
}


def played_book(foundry: Foundry, view: StepView) -> Book:
    """Return the book that the bundle of a run was built from."""
    entry = foundry.shelf.find(view.artifacts["export_bundle"].id)
    request = foundry.units.find(entry.tu_id).made.get("binding_request")
    if request is None:
        raise NotFound(f"Nobody knows which snapshot {entry.ref} was built from")
    return bound_book(foundry, foundry.shelf.body(str(request["sha256"])))


def _explored(book: Book) -> dict[ReaderPosition, tuple[ReaderPosition | None, str]]:
    """Return places of the book with the place and the choice they were found by."""
    start = begin(book)
    found: dict[ReaderPosition, tuple[ReaderPosition | None, str]] = {start: (None, "")}
    waiting = [start]
    for here in waiting:
        if len(found) > _MOST_PLACES:
            break
        if is_end(book.by_id[here.section]):
            continue
        for offered in offers(book, here):
            if not offered.is_open or offered.choice.to not in book.by_id:
                continue
            there = take(book, here, offered.choice.id)
            if there not in found:
                found[there] = (here, offered.choice.id)
                waiting.append(there)
    return found


def routes_of(book: Book) -> list[dict[str, Any]]:
    """Return short routes that show each kind of place once."""
    found = _explored(book)
    wanted: dict[str, tuple[ReaderPosition, str]] = {}
    returns = {(each.entry, each.back_to) for each in book.returns}
    for place, (before, choice) in found.items():
        section = book.by_id[place.section]
        if is_end(section):
            wanted.setdefault("terminal", (place, ""))
        if section.kind is SectionKind.HUB:
            wanted.setdefault("hub", (place, ""))
        if before is not None and (before.section, place.section) in returns:
            wanted.setdefault("loop_return", (place, ""))
        for offered in () if is_end(section) else offers(book, place):
            if offered.choice.gateway is None:
                continue
            kind = "gate_met" if offered.is_open else "gate_refused"
            wanted.setdefault(kind, (place, offered.choice.id))
        del choice
    for entry, back in sorted(returns - {("", "")}):
        # A way back into a place known already is no new place: go there and take it.
        for place in found:
            leads = [o for o in offers(book, place) if o.is_open and o.choice.to == back]
            if place.section == entry and leads:
                wanted.setdefault("loop_return", (place, leads[0].choice.id))
    return [
        {"id": f"route_{number}", "path": [*_way(found, place), *filter(None, [last])]}
        | {"covers": [kind]}
        for number, (kind, (place, last)) in enumerate(sorted(wanted.items()), start=1)
    ]


def _way(
    found: dict[ReaderPosition, tuple[ReaderPosition | None, str]], place: ReaderPosition
) -> list[str]:
    way: list[str] = []
    at: ReaderPosition | None = place
    while at is not None:
        at, choice = found[at]
        if choice:
            way.append(choice)
    return list(reversed(way))


def _walked(book: Book, path: list[str]) -> Iterator[tuple[str, str | None, str]]:
    """Go along a route: each section with the choice taken there, and a refusal, if it is one."""
    here = begin(book)
    for choice in path:
        offered = {each.choice.id: each for each in offers(book, here)}.get(choice)
        if offered is None:
            break
        yield here.section, choice, "" if offered.is_open else offered.refusal
        if not offered.is_open:
            return
        here = take(book, here, choice)
    yield here.section, None, ""


async def route_plan(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Plan routes, and count how much of the book they pass."""
    book = played_book(foundry, view)
    routes = routes_of(book)
    seen = {place for each in routes for place, _, _ in _walked(book, each["path"])}
    taken = {choice for each in routes for _, choice, _ in _walked(book, each["path"]) if choice}
    choices = [choice.id for each in book.sections for choice in each.choices]
    coverage = {
        "sections": round(100 * len(seen) / max(1, len(book.sections)), 1),
        "choices": round(100 * len(taken) / max(1, len(choices)), 1),
    }
    return CodeOutcome({"route_plan": {"routes": routes, "coverage": coverage}})


async def pages_of_routes(foundry: Foundry, view: StepView) -> Json:
    """Show the pages of each route, as readers see them."""
    book = played_book(foundry, view)
    pages: Rows = []
    for route in view.content("route_plan")["routes"]:
        for section, choice, refusal in _walked(book, route["path"]):
            held = book.by_id[section]
            labels = {each.id: each.label for each in held.choices}
            pages.append(
                {
                    "route": route["id"],
                    "section_id": section,
                    "text": held.text,
                    "choices": list(labels.values()),
                    "taken": labels.get(choice or ""),
                    "refusal": refusal,
                }
            )
    return {"pages": pages}


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


def improvised_in(book: Book, turns: Rows) -> list[tuple[str, str, str]]:
    """Return what was spoken and stands nowhere in the book: route, section, sentence."""
    spoken = [each for s in book.sections for each in (s.title, s.text, *_labels(s))]
    spoken += [each for g in book.gateways for each in (g.phrase, g.refusal)]
    whole = f" {' '.join(_plain(each) for each in spoken)} "
    found: list[tuple[str, str, str]] = []
    for turn in turns:
        for sentence in _SENTENCE.findall(str(turn["spoken"])):
            plain = _plain(sentence)
            is_recap = plain.startswith(("recap", "so far"))
            if plain and not is_recap and f" {plain} " not in whole:
                found.append((str(turn["route"]), str(turn["section_id"]), sentence.strip()))
    return found


def _labels(section: Any) -> list[str]:
    return [str(each.label) for each in section.choices]


async def improvised(foundry: Foundry, view: StepView) -> Json:
    """Show what was spoken and does not stand in the book."""
    turns = cast("Rows", view.content("narration_transcript")["turns"])
    found = improvised_in(played_book(foundry, view), turns)
    return {"improvised": [{"section_id": place, "said": said} for _, place, said in found]}


async def improvisation_noted(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Add a note for everything that was improvised."""
    notes = cast("Rows", said_in(view, "pn_playtest_notes")["notes"])
    turns = cast("Rows", view.content("narration_transcript")["turns"])
    found = improvised_in(played_book(foundry, view), turns)
    more = [
        {
            "id": f"improvised-{number}",
            "route": route,
            "section_id": place,
            "tag": "leak_risk",
            "severity": "med",
            "snippet": said[:200],
            "fix": "say only what stands in the book",
            "owner_role": "player_narrator",
        }
        for number, (route, place, said) in enumerate(found, start=1)
    ]
    return CodeOutcome({"pn_playtest_notes": {"notes": [*notes, *more]}})


async def routed_notes(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Give every note a loop that exists; what nobody placed goes where its kind goes."""
    said = cast("Rows", said_in(view, "issue_triage")["items"])
    known = {str(row["note_id"]): row for row in reversed(said)}
    names = foundry.registry.names()
    rows: Rows = []
    for note in view.content("pn_playtest_notes")["notes"]:
        row = known.get(str(note["id"]), {})
        loop = row.get("loop")
        rows.append(
            {
                "note_id": str(note["id"]),
                "bar": row.get("bar") or "presentation",
                "severity": note["severity"],
                "loop": loop if loop in names else _LOOP_OF[str(note["tag"])],
            }
        )
    return CodeOutcome({"issue_triage": {"items": rows}})


async def package_playtest(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Count the notes, raise story hooks, and go where most of them go."""
    notes = cast("Rows", view.content("pn_playtest_notes")["notes"])
    rows = cast("Rows", view.content("issue_triage")["items"])
    cards = [
        {
            "title": f"{note['tag']} at {note['section_id']}: {note['snippet']}"[:200],
            "kind": "navigation" if note["tag"] == "nav_bug" else "style",
            "player_safe_summary": "A listener stumbled here.",
            "hot_details": str(note["fix"]),
        }
        for note in notes
        if note["severity"] != "low"
    ][:100]
    file_cards(foundry, view, cards, "player_narrator")
    going = Counter(str(row["loop"]) for row in rows)
    summary = {
        "counts": dict(Counter(str(note["tag"]) for note in notes)),
        "followups": [f"{count} to {name}" for name, count in going.most_common()],
    }
    goes = going.most_common(1)[0][0] if going else None
    return CodeOutcome({"playtest_summary": summary, "hooks": {"hooks": cards}}, next_loop=goes)
