"""Code of canon and codex: clashes with what is true already, links, and terms."""

from collections import Counter
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, Misfit, StepView
from callboard.core.canonical import Json
from callboard.library.story.contradiction import ConflictRules, read_rules
from callboard.packs.questfoundry.canon.clashes import disagreements
from callboard.packs.questfoundry.canon.graph import canon_for
from callboard.packs.questfoundry.canon.statements import statements_in
from callboard.packs.questfoundry.cold.folding import ColdPart, fold
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.shelf.entry import COLD_READERS
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
    """Show what is true already: all of a small canon, of a large one what the questions name."""
    asked = " ".join(str(row["question"]) for row in rows_in(view, "canon_questions", "questions"))
    readers = [role for role in view.step.roles if role in COLD_READERS]
    return canon_for(foundry.canon(), asked, reader=readers[0] if readers else None)


def clashes_of(
    new: dict[str, Any], old: dict[str, Any], rules: ConflictRules | None = None
) -> list[dict[str, str]]:
    """Find what new canon says against old, and against itself; mysteries with bounds excuse."""
    both = fold({"canon_pack": old}, [ColdPart("canon_pack", new)])
    found = disagreements(statements_in(both), rules or read_rules())
    return [{"a": each.later, "b": each.earlier, "kind": each.kind} for each in found]


def _clashes(foundry: Foundry, view: StepView) -> list[dict[str, str]]:
    """Return the clashes of the work at hand with what Cold and the drafts it builds on hold."""
    behind = [
        each for each in foundry.behind(foundry.units.find(view.unit)) if each.id != view.unit
    ]
    old = foundry.held_with(behind).get("canon_pack", {})
    return clashes_of(view.content("canon_pack"), old, foundry.rules)


async def canon_clashes(foundry: Foundry, view: StepView) -> Json:
    """Show where new canon and Cold's exclude each other."""
    return {"clashes": [dict(each) for each in _clashes(foundry, view)]}


async def no_clash_forgotten(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Keep every clash that code found in the report, open unless it is really settled.

    Reconciled is what a change of old canon settles: the new statement stands and the old one
    leaves with the merge. What the new canon says against itself only new words settle, and a
    mystery needs bounds and a time to look again.
    """
    said = cast("Rows", said_in(view, "contradiction_report")["clashes"])
    found = {frozenset((row["a"], row["b"])): row for row in _clashes(foundry, view)}
    own = {frozenset((row["a"], row["b"])) for row in clashes_of(view.content("canon_pack"), {})}
    rows: Rows = []
    for row in said:
        pair = frozenset((str(row["a"]), str(row["b"])))
        clash = found.pop(pair, None)
        is_own = pair in own and clash is not None and clash["kind"] != "invariant"
        is_settled = clash is None or (row["resolution"] == "reconciled" and not is_own)
        rows.append(row if is_settled else {**row, "resolution": "open"})
    rows += [{**row, "resolution": "open"} for row in found.values()]
    return CodeOutcome({"contradiction_report": {"clashes": rows}})


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
