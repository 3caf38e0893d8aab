"""Code of canon and codex: clashes with what is true already, links, and terms."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, Misfit, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.harvest import file_cards
from callboard.packs.questfoundry.steps.reports import Rows, rows_in, said_in
from callboard.store.connection import Connection

_MOST_TERMS: Final = 40
_OFTEN: Final = 3


def _cold(foundry: Foundry, path: str) -> dict[str, Any]:
    tip = foundry.cold.tip()
    return {} if tip is None else foundry.cold.contents(tip).get(path, {})


async def accepted_hooks(foundry: Foundry, view: StepView) -> Json:
    """Show the accepted story hooks that canon shall answer."""
    hooks = foundry.hooks.in_state("accepted", "in_progress")
    return {"story_hooks": [each.shape() for each in hooks]}


async def take_up_hooks(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Let every question name story hooks that exist, and take those up."""
    rows = cast("Rows", said_in(view, "canon_questions")["questions"])
    asked = {str(hook) for row in rows for hook in row.get("hook_ids", ())}
    known = {each.id: each for each in foundry.hooks.in_state("accepted", "in_progress")}
    strangers = sorted(asked - {*known})
    if strangers:
        told = f"no accepted story hook is called {', '.join(strangers)}"
        return CodeOutcome(errors=(Misfit("canon_questions", told),))

    def act(connection: Connection) -> None:
        for hook_id in sorted(asked):
            if foundry.hooks.load(connection, hook_id).status == "accepted":
                foundry.hooks.move(connection, hook_id, "in_progress", by="lore_weaver")

    view.scope.commit_with(act)
    return CodeOutcome(message=f"{len(asked)} story hooks")


async def cold_canon(foundry: Foundry, view: StepView) -> Json:
    """Show what is true already."""
    return {"canon": _cold(foundry, "canon_pack")}


def clashes_of(new: dict[str, Any], old: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Find statements that exclude each other: facts with two values, events in two orders."""
    held: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (*old.get("entities", ()), *new.get("entities", ())):
        key = (str(row["name"]).casefold(), str(row["attribute"]).casefold())
        before = held.setdefault(key, row)
        is_same_time = before.get("since", "") == row.get("since", "")
        if is_same_time and str(before["value"]).casefold() != str(row["value"]).casefold():
            told = f"{row['name']}: {row['attribute']}"
            yield {"a": f"{told} is {row['value']}", "b": f"{told} is {before['value']}"} | {
                "kind": "fact"
            }
    placed = {str(row["id"]): int(row["order"]) for row in old.get("timeline", ())}
    rows = [row for row in new.get("timeline", ()) if str(row["id"]) in placed]
    rows.sort(key=lambda row: int(row["order"]))
    for one, other in pairwise(rows):
        if placed[str(one["id"])] > placed[str(other["id"])]:
            yield {"a": f"{one['id']} before {other['id']}", "kind": "order"} | {
                "b": f"{other['id']} before {one['id']}"
            }


async def canon_clashes(foundry: Foundry, view: StepView) -> Json:
    """Show where new canon and Cold's exclude each other."""
    found = clashes_of(view.content("canon_pack"), _cold(foundry, "canon_pack"))
    return {"clashes": list(found)}


async def no_clash_forgotten(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Keep every clash that code found in the report; unsettled ones are open."""
    said = cast("Rows", said_in(view, "contradiction_report")["clashes"])
    settled = {(row["a"], row["b"]) for row in said}
    found = clashes_of(view.content("canon_pack"), _cold(foundry, "canon_pack"))
    left = [{**row, "resolution": "open"} for row in found if (row["a"], row["b"]) not in settled]
    return CodeOutcome({"contradiction_report": {"clashes": [*said, *left]}})


async def factual_claims(foundry: Foundry, view: StepView) -> bool:
    """Say whether any story hook of the unit is about the real world."""
    asked = rows_in(view, "canon_questions", "questions")
    ids = {str(hook) for row in asked for hook in row.get("hook_ids", ())}
    return any(foundry.hooks.find(each).kind == "factual" for each in ids)


async def hand_off_canon(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Resolve what was answered, raise what the impact notes ask for."""
    answers = cast("Rows", view.content("canon_pack")["answers"])
    answered = sorted({str(hook) for row in answers for hook in row.get("hook_ids", ())})

    def act(connection: Connection) -> None:
        for hook_id in answered:
            hook = foundry.hooks.load(connection, hook_id)
            if hook.status == "accepted":
                foundry.hooks.move(connection, hook_id, "in_progress", by="lore_weaver")
            if hook.status in ("accepted", "in_progress"):
                foundry.hooks.move(connection, hook_id, "resolved", by="lore_weaver")

    view.scope.commit_with(act)
    impact = view.content("impact_notes")
    summary = "New canon asks for a change."
    cards = [
        {"title": str(note)[:200], "kind": "structure", "player_safe_summary": summary}
        for note in impact["topology"]
    ]
    cards += [
        {
            "title": f"{row['section_id']}: {row['note']}"[:200],
            "kind": "scene",
            "player_safe_summary": summary,
        }
        for row in impact["prose"]
    ]
    file_cards(foundry, view, cards, "lore_weaver")
    return CodeOutcome(
        message=f"{len(answered)} story hooks answered",
        next_loop="codex_expansion",
        next_inputs=("canon_pack", "player_safe_summaries"),
    )


def terms_in(foundry: Foundry) -> Counter[str]:
    """Count the names in the prose: words with a capital inside a sentence."""
    import re

    inside = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
    shelf = foundry.shelf.newest("scene_drafts")
    texts: Rows = [] if shelf is None else foundry.shelf.body(shelf.sha256)["sections"]
    cold: Rows = _cold(foundry, "scene_drafts").get("sections", [])
    by_id = {str(row["section_id"]): str(row["text_md"]) for row in (*cold, *texts)}
    return Counter(term for text in by_id.values() for term in inside.findall(text))


async def term_counts(foundry: Foundry, view: StepView) -> Json:
    """Show how often names stand in the prose."""
    return {"terms": dict(terms_in(foundry).most_common(_MOST_TERMS))}


async def cold_codex(foundry: Foundry, view: StepView) -> Json:
    """Show which entries there are."""
    rows = _cold(foundry, "codex_entries").get("entries", [])
    return {"entries": [{"slug": row["slug"], "title": row["title"]} for row in rows]}


async def link_audit(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Follow every link of the codex, old entries included."""
    rows = cast("Rows", view.content("codex_entries")["entries"])
    old = cast("Rows", _cold(foundry, "codex_entries").get("entries", []))
    known = {str(row["slug"]) for row in (*old, *rows)}
    links = [
        {"from": str(row["slug"]), "to": str(to), "ok": str(to) in known}
        for row in rows
        for to in row.get("see_also", ())
    ]
    return CodeOutcome({"crosslink_map": {"links": links, "stubs": []}})


async def package_codex(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Put the codex together; terms that are often used and have no entry become story hooks."""
    rows = cast("Rows", view.content("codex_entries")["entries"])
    titles = {str(row["title"]).casefold() for row in rows}
    counted = {term: n for term, n in terms_in(foundry).items() if n >= _OFTEN}
    red = [term for term in counted if term.casefold() not in titles]
    cards = [
        {
            "title": f"An entry on {term}",
            "kind": "taxonomy",
            "player_safe_summary": f"{term} stands {counted[term]} times in the prose.",
        }
        for term in red
    ]
    file_cards(foundry, view, cards, "codex_curator")
    coverage = {
        "covered": [term for term in counted if term not in red],
        "red_links": [{"term": term} for term in red],
    }
    pack = {
        "entry_ids": [str(row["slug"]) for row in rows],
        "map_id": view.artifacts["crosslink_map"].id,
    }
    return CodeOutcome({"codex_pack": pack, "coverage_report": coverage}, next_loop="gatecheck")
