"""Facts of gates: what code finds in the work of one loop, besides what the book itself shows."""

import re
from collections.abc import Callable
from typing import Any, Final

from callboard.choreography.loop import StepView
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.harvest import triage
from callboard.packs.questfoundry.steps.looking_back import retro
from callboard.packs.questfoundry.steps.reports import Flaws, flaw, rows_in
from callboard.packs.questfoundry.verdict import Bar, BarFinding

# Loops whose work is no part of the book: the book is not judged with it.
PURE: Final = frozenset({"triage", "canon", "retro", "archive", "playtest", "translation"})
_MOST_ALT: Final = 200
_SENTENCE_END: Final = re.compile(r"(?<![.!?…])[.!?…]+(?=\s|$)")
# What has to be on record of a picture or a sound that can be made again.
_PICTURE_RECORD: Final = ("provider", "model", "seed", "prompt", "post", "sha256")
_PICTURE_PARAMS: Final = ("width", "height", "steps")
_SOUND_PARAMS: Final = ("version", "sample_rate", "loudness_target_lufs")
_LOUDNESS_LEEWAY: Final = 2.0
_TRADE: Final = ("seed", "prompt", "render", "lora", "checkpoint", "diffusion", "steps")


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


def _sentences(text: str) -> int:
    return max(1, len(_SENTENCE_END.findall(text))) if text.strip() else 0


def _of_entry(
    place: str, check: str, what: str, fix: str, bar: str = "integrity", status: str = "red"
) -> tuple[Bar, BarFinding]:
    step, owner = "step_2_draft_entries", "codex_curator"
    return flaw(bar, check, place, what, fix, owner, step=step, status=status)


def codex(foundry: Foundry, view: StepView) -> Flaws:
    """Links resolve, facts are cited, slugs are unique, no secret is told, and it reads plainly."""
    stubs = {str(each) for each in rows_in(view, "crosslink_map", "stubs")}
    for row in rows_in(view, "crosslink_map", "links"):
        if not row["ok"] and row["to"] not in stubs:
            what, fix = f"links to {row['to']}, which is no entry", "write it or take the link out"
            yield _of_entry(row["from"], "red_link", what, fix)
    known = _citable(foundry, view)
    seen: set[str] = set()
    for row in rows_in(view, "codex_entries", "entries"):
        if row["slug"] in seen:
            yield _of_entry(row["slug"], "twin", "is there twice", "give one another slug")
        seen.add(row["slug"])
        yield from _in_entry(row, known)
    sweep = view.content("spoiler_report")
    if sweep is not None and sweep["verdict"] != "ok":
        what = "; ".join(str(each["suggestion"]) for each in sweep["findings"]) or "not all clear"
        yield _of_entry("codex", "spoiler", what, "take out what gives it away", "presentation")
    yield from _spoilers(foundry, view, "codex_entries", "slug", "codex_curator")


def _in_entry(row: dict[str, Any], known: set[str]) -> Flaws:
    slug, links = str(row["slug"]), [str(each) for each in row.get("see_also", ())]
    strangers = [str(each) for each in row.get("citations", ()) if str(each) not in known]
    if not row.get("citations") or strangers:
        what = f"cites {', '.join(strangers)}, which is nowhere" if strangers else "cites no canon"
        fix = "cite the answer or the Cold text it rests on, or leave it out"
        yield _of_entry(slug, "uncited", what, fix)
    if slug in links:
        yield _of_entry(slug, "self_link", "links to itself", "take the link out")
    if str(row.get("reading_level", "plain")) != "plain" and "glossary" not in links:
        what, fix = f"reads as {row['reading_level']}", "say it plainly or link the glossary"
        yield _of_entry(slug, "reading_level", what, fix, "accessibility")
    if not 2 <= _sentences(str(row["overview"])) <= 4:
        what = f"its overview has {_sentences(str(row['overview']))} sentences"
        yield _of_entry(slug, "overview", what, "say it in two to four", "style", "yellow")
    if not 3 <= len({*links} - {slug}) <= 5:
        what, fix = f"names {len(links)} others to see", "name three to five"
        yield _of_entry(slug, "see_also", what, fix, "style", "yellow")


def _citable(foundry: Foundry, view: StepView) -> set[str]:
    """Return what an entry may rest on: answers of canon, and what stands in Cold."""
    tip = foundry.cold.tip()
    held = {} if tip is None else foundry.cold.contents(tip)
    answers = [
        *rows_in(view, "canon_pack", "answers"),
        *held.get("canon_pack", {}).get("answers", ()),
    ]
    texts = held.get("scene_drafts", {}).get("sections", ())
    entries = held.get("codex_entries", {}).get("entries", ())
    return {
        *(str(row["question_id"]) for row in answers),
        *(str(row["section_id"]) for row in texts),
        *(str(row["slug"]) for row in entries),
    }


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
        if plan.get("determinism") == "promised" and "illustrator" in view.awake:
            made = logged.get(name, {})
            lacks = [each for each in _PICTURE_RECORD if made.get(each) in (None, "")]
            lacks += [each for each in _PICTURE_PARAMS if each not in made.get("params", {})]
            if lacks:
                what, fix = (
                    f"nobody wrote down its {', '.join(lacks)}",
                    "write down how it was made",
                )
                owner = "illustrator"
                yield flaw("determinism", "unlogged", name, what, fix, owner, step="step_4_render")


def _alt_lack(alt: str) -> str:
    if not alt:
        return "has no alternative text"
    if len(alt) > _MOST_ALT:
        return f"its alternative text has {len(alt)} characters, at most {_MOST_ALT}"
    if _sentences(alt) > 2:
        return f"its alternative text has {_sentences(alt)} sentences, at most 2"
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
    if "audio_producer" in view.awake:
        yield from _unlogged_sounds(view)


def _unlogged_sounds(view: StepView) -> Flaws:
    logged = {str(row["plan_id"]): row for row in rows_in(view, "repro_notes", "runs")}
    step, owner = "step_4_produce", "audio_producer"
    for each in rows_in(view, "audio_assets", "assets"):
        name, made = str(each["cue_id"]), logged.get(str(each["cue_id"]), {})
        lacks = [part for part in ("provider", "sha256") if not made.get(part)]
        lacks += [part for part in _SOUND_PARAMS if part not in made.get("params", {})]
        if lacks:
            what, fix = f"nobody wrote down its {', '.join(lacks)}", "write down how it was made"
            yield flaw("determinism", "unlogged", name, what, fix, owner, step=step)
            continue
        target = float(made["params"]["loudness_target_lufs"])
        heard = each.get("loudness_lufs")
        if heard is not None and abs(float(heard) - target) > _LOUDNESS_LEEWAY:
            what, fix = f"{heard:g} LUFS, meant are {target:g}", "level it"
            yield flaw("accessibility", "loudness", name, what, fix, owner, step=step)


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
