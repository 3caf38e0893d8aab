"""Facts of gates: what code finds in the work of one loop, besides what the book itself shows."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from callboard.choreography.loop import StepView
from callboard.packs.questfoundry.bars.verdict import Bar, BarFinding
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import flaw, rows_in

Flaws = Iterator[tuple[Bar, BarFinding]]
# Loops whose work is no part of the book: the book is not judged with it.
PURE: Final = frozenset({"triage", "canon", "retro", "archive", "playtest", "translation"})
_MOST_ALT: Final = 200
_TRADE: Final = ("seed", "prompt", "render", "lora", "checkpoint", "diffusion", "steps")


def triage(foundry: Foundry, view: StepView) -> Flaws:
    """Every story hook of the intake is decided once, and can be carried out."""
    wanted = [str(row["hook_id"]) for row in rows_in(view, "hook_intake", "hooks")]
    decided = rows_in(view, "triage_decisions", "decisions")
    ids = [str(row["hook_id"]) for row in decided]
    step = "step_4_triage"

    def told(place: str, what: str, fix: str) -> tuple[Bar, BarFinding]:
        return flaw("integrity", "triage", place, what, fix, "showrunner", step=step)

    for each in wanted:
        if ids.count(each) != 1:
            yield told(each, f"is decided {ids.count(each)} times", "decide it exactly once")
    for each in sorted({*ids} - {*wanted}):
        yield told(each, "was never taken in", "decide only what was taken in")
    most = foundry.settings.hook_harvest.max_accept
    accepted = [row for row in decided if row["decision"] == "accepted"]
    if len(accepted) > most:
        yield told("harvest", f"{len(accepted)} accepted, at most {most}", "defer some")
    known = foundry.registry.names()
    for row in decided:
        lack = _lacks(row, known)
        if lack:
            yield told(str(row["hook_id"]), lack, "complete the decision")
    for row in accepted:
        yield from _risks(foundry, view, row, told)


def _lacks(row: dict[str, Any], known: tuple[str, ...]) -> str:
    match row["decision"]:
        case "accepted":
            if not row.get("owner_role") or not row.get("next_loop"):
                return "accepted without an owner or a loop"
            return "" if row["next_loop"] in known else f"no loop is called {row['next_loop']}"
        case "deferred":
            return "" if row.get("wake_condition") else "deferred without what would wake it"
        case _:
            return "" if row.get("reason") else "rejected without a reason"


def _risks(
    foundry: Foundry, view: StepView, row: dict[str, Any], told: Callable[..., Any]
) -> Flaws:
    hook = foundry.hooks.find(str(row["hook_id"]))
    is_unsure = hook.kind == "factual" and hook.card.get("uncertainty") == "high"
    if is_unsure and "researcher" not in view.awake and not row.get("risk_signoff"):
        yield told(hook.id, "an unsure fact, and nobody to look it up", "add a risk_signoff")


def canon(foundry: Foundry, view: StepView) -> Flaws:
    """No clash stays open, and no summary gives a secret away."""
    for row in rows_in(view, "contradiction_report", "clashes"):
        if row["resolution"] == "open":
            yield flaw(
                "integrity",
                "open_clash",
                str(row["a"]),
                f"contradicts {row['b']}",
                "reconcile it, or make it a mystery with bounds",
                "lore_weaver",
                step="step_3_contradiction_check",
            )
    yield from _spoilers(foundry, view, "player_safe_summaries", "topic", "lore_weaver")


def _spoilers(foundry: Foundry, view: StepView, kind: str, name: str, owner: str) -> Flaws:
    """Look for the terms of the canon at hand, and for those of all canon before it."""
    before = foundry.book_with(foundry.behind(foundry.units.find(view.unit)))
    held = (*rows_in(view, "canon_pack", "spoiler_terms"), *before.spoilers)
    terms = list(dict.fromkeys(str(each) for each in held if str(each).strip()))
    for row in rows_in(view, kind, "summaries" if kind == "player_safe_summaries" else "entries"):
        text = " ".join(str(value) for value in row.values()).casefold()
        for term in terms:
            if term.casefold() in text:
                yield flaw(
                    "presentation",
                    "spoiler",
                    str(row[name]),
                    f"says {term!r}, which canon keeps from readers",
                    f"say it without {term!r}",
                    owner,
                    step=view.loop.producers[kind].id,
                )


def codex(foundry: Foundry, view: StepView) -> Flaws:
    """Links resolve, facts are cited, slugs are unique, no secret is told."""
    step = "step_2_draft_entries"
    stubs = {str(each) for each in rows_in(view, "crosslink_map", "stubs")}
    for row in rows_in(view, "crosslink_map", "links"):
        if not row["ok"] and row["to"] not in stubs:
            what = f"links to {row['to']}, which is no entry"
            fix = "write it, announce it or take the link out"
            yield flaw("integrity", "red_link", row["from"], what, fix, "codex_curator", step=step)
    seen: set[str] = set()
    for row in rows_in(view, "codex_entries", "entries"):
        slug = str(row["slug"])
        if slug in seen:
            fix = "give one another slug"
            yield flaw("integrity", "twin", slug, "is there twice", fix, "codex_curator", step=step)
        seen.add(slug)
        if not row.get("citations"):
            fix = "cite the answer it rests on, or leave it out"
            what = "cites no canon"
            yield flaw("integrity", "uncited", slug, what, fix, "codex_curator", step=step)
        if slug in row.get("see_also", ()):
            fix = "take the link out"
            what = "links to itself"
            yield flaw("integrity", "self_link", slug, what, fix, "codex_curator", step=step)
    yield from _spoilers(foundry, view, "codex_entries", "slug", "codex_curator")


def style(foundry: Foundry, view: StepView) -> Flaws:
    """The structure is to the letter what it was."""
    for row in rows_in(view, "structure_diff", "differences"):
        yield flaw(
            "integrity",
            "structure_changed",
            str(row["path"]),
            f"was {row['before']!r}, is {row['after']!r}",
            "leave the structure as it was; a story hook asks for the change",
            "scene_smith",
            step="step_5_owner_revisions",
        )


def art(foundry: Foundry, view: StepView) -> Flaws:
    """Every plan has its words, and a promise of determinism its record."""
    step = "step_5_captions_alt_text"
    told = {str(row["plan_id"]): row for row in rows_in(view, "visual_descriptions", "items")}
    logged = {str(row["plan_id"]): row for row in rows_in(view, "determinism_log", "runs")}
    for plan in rows_in(view, "art_plans", "plans"):
        name = str(plan["id"])
        alt = str(told.get(name, {}).get("alt_text", ""))
        lack = _alt_lack(alt)
        if lack:
            fix = "say in one or two sentences what matters in it"
            yield flaw("accessibility", "alt_text", name, lack, fix, "art_director", step=step)
        words = f"{alt} {told.get(name, {}).get('caption', '')}".casefold().split()
        trade = sorted({*words} & {*_TRADE})
        if trade:
            what, fix = f"says {', '.join(trade)}", "say what is seen, not how it was made"
            yield flaw("presentation", "trade", name, what, fix, "art_director", step=step)
        made = logged.get(name, {})
        if plan.get("determinism") == "promised" and "illustrator" in view.awake and not made:
            what, fix = "promised, and nobody wrote down how", "write down every parameter"
            owner = "illustrator"
            yield flaw("determinism", "unlogged", name, what, fix, owner, step="step_4_render")


def _alt_lack(alt: str) -> str:
    if not alt:
        return "has no alternative text"
    if len(alt) > _MOST_ALT:
        return f"its alternative text has {len(alt)} characters, at most {_MOST_ALT}"
    if alt.casefold().startswith(("image of", "picture of")):
        return "its alternative text says that it is a picture"
    return ""


def audio(foundry: Foundry, view: StepView) -> Flaws:
    """Every cue has its words, and what is loud its warning."""
    step = "step_5_captions_safety"
    told = {str(row["cue_id"]): row for row in rows_in(view, "captions", "items")}
    for cue in rows_in(view, "audio_plans", "cues"):
        name, words = str(cue["cue_id"]), told.get(str(cue["cue_id"]), {})
        caption = str(words.get("caption", ""))
        if not (caption.startswith("[") and caption.endswith("]")):
            what, fix = "has no caption in brackets", "say in brackets what is heard"
            yield flaw("accessibility", "caption", name, what, fix, "audio_director", step=step)
        if not words.get("text_equivalent") and not cue.get("text_equivalent"):
            what, fix = "has no text that says the same", "say in words what it means"
            yield flaw("accessibility", "text", name, what, fix, "audio_director", step=step)
        is_warned = words.get("safety_note") or cue.get("safety_note")
        if cue.get("intensity") == "high" and not is_warned:
            what, fix = "is loud without a warning", "add a safety note"
            yield flaw("accessibility", "loud", name, what, fix, "audio_director", step=step)


def translation(foundry: Foundry, view: StepView) -> Flaws:
    """Places, placeholders and fixed words are those of the source."""
    for each in rows_in(view, "link_report", "broken"):
        place, _, what = str(each).partition(": ")
        fix = "translate it again, with everything in its place"
        step = "step_3_localize"
        yield flaw("integrity", "translation", place, what, fix, "translator", step=step)


def playtest(foundry: Foundry, view: StepView) -> Flaws:
    """What was noted as bad keeps the view from release."""
    bars = {str(row["note_id"]): str(row["bar"]) for row in rows_in(view, "issue_triage", "items")}
    known = {each.value for each in Bar}
    for row in rows_in(view, "pn_playtest_notes", "notes"):
        bar = bars.get(str(row["id"]), "presentation")
        if row["severity"] == "low":
            continue
        yield flaw(
            bar if bar in known else "presentation",
            str(row["tag"]),
            str(row["section_id"] or "view"),
            str(row["snippet"] or row["tag"]),
            str(row["fix"] or "look at it"),
            str(row["owner_role"] or "scene_smith"),
            step="step_3_issue_log",
            status="red" if row["severity"] == "high" else "yellow",
        )


def retro(foundry: Foundry, view: StepView) -> Flaws:
    """Enough findings, complete actions, no more than five that press."""
    for field in ("well", "poorly"):
        count = len(rows_in(view, "retro_findings", field))
        if not 3 <= count <= 5:
            what, fix = f"{count} findings", "name three to five"
            step = "step_4_synthesize"
            yield flaw("integrity", "findings", field, what, fix, "showrunner", step=step)
    items = rows_in(view, "action_items", "items")
    pressing = [row for row in items if row["priority"] == "high"]
    step = "step_5_action_items"
    if len(pressing) > 5:
        what, fix = f"{len(pressing)} of high priority", "keep five"
        yield flaw("integrity", "actions", "actions", what, fix, "showrunner", step=step)
    for row in items:
        if not all(row.get(name) for name in ("owner_role", "target", "success", "priority")):
            what, fix = "lacks an owner, a target or what success is", "complete it"
            yield flaw("integrity", "actions", row["id"], what, fix, "showrunner", step=step)


def archive(foundry: Foundry, view: StepView) -> Flaws:
    """What was unpacked is what was packed."""
    for each in rows_in(view, "restore_report", "mismatches"):
        what, fix = "is not what was packed", "pack again"
        step = "step_4_package"
        yield flaw("integrity", "restore", str(each), what, fix, "book_binder", step=step)


FACTS: Final[dict[str, Callable[[Foundry, StepView], Flaws]]] = {
    each.__name__: each
    for each in (
        triage,
        canon,
        codex,
        style,
        art,
        audio,
        translation,
        playtest,
        retro,
        archive,
    )
}
