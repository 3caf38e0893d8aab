"""Code of pictures, sounds and translations: what stands for them, and whether it is whole."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json, digest_bytes
from callboard.packs.questfoundry.formats.edition import PLACEHOLDER, pieces_of
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.harvest import file_cards
from callboard.packs.questfoundry.steps.reports import Rows, rows_in, said_in

_WIDTH, _HEIGHT = 800, 600
_RATE: Final = 44_100
_SOUND_PARAMS: Final = {"version": "1", "sample_rate": _RATE, "loudness_target_lufs": -16}


def placeholder_of(subject: str) -> bytes:
    """Return a picture that says what would be shown, and nothing else."""
    from xml.sax.saxutils import escape

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<rect width="100%" height="100%" fill="#ddd"/>'
        f'<text x="50%" y="50%" text-anchor="middle">{escape(subject)}</text></svg>'
    ).encode()


def silence_of(seconds: float) -> bytes:
    """Return a second or more of silence as a sound file."""
    import io
    import wave

    held = io.BytesIO()
    with wave.open(held, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(_RATE)
        sound.writeframes(b"\0\0" * round(_RATE * min(max(seconds, 1), 600)))
    return held.getvalue()


async def placeholder_pictures(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Let a placeholder stand for every planned picture, with how it was made."""
    plans = cast("Rows", view.content("art_plans")["plans"])
    made = [(str(plan["id"]), placeholder_of(str(plan["subject"])), plan) for plan in plans]
    assets = [
        {"plan_id": name, "path": f"art/{name}.svg", "sha256": digest_bytes(data)}
        | {"w": _WIDTH, "h": _HEIGHT}
        for name, data, _ in made
    ]
    runs = [
        {
            "plan_id": name,
            "provider": "placeholder",
            "model": "none",
            "seed": 0,
            "prompt": str(plan["subject"]),
            "params": {"width": _WIDTH, "height": _HEIGHT, "steps": 0},
            "post": "none",
            "sha256": digest_bytes(data),
        }
        for name, data, plan in made
    ]
    return CodeOutcome({"art_assets": {"assets": assets}, "determinism_log": {"runs": runs}})


async def silent_sounds(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Let silence stand for every planned sound, with how it was made."""
    cues = cast("Rows", view.content("audio_plans")["cues"])
    made = [(str(cue["cue_id"]), silence_of(float(cue["duration_s"]))) for cue in cues]
    assets = [
        {"cue_id": name, "path": f"audio/{name}.wav", "sha256": digest_bytes(data)}
        | {"sample_rate": _RATE}
        for name, data in made
    ]
    runs = [
        {"plan_id": name, "provider": "silence", "params": _SOUND_PARAMS}
        | {"sha256": digest_bytes(data)}
        for name, data in made
    ]
    return CodeOutcome({"audio_assets": {"assets": assets}, "repro_notes": {"runs": runs}})


async def illustrator_awake(foundry: Foundry, view: StepView) -> bool:
    """Say whether somebody can make pictures."""
    return "illustrator" in view.awake


async def producer_awake(foundry: Foundry, view: StepView) -> bool:
    """Say whether somebody can make sounds."""
    return "audio_producer" in view.awake


async def package_art(foundry: Foundry, view: StepView) -> CodeOutcome:
    """List plans, pictures and what is deferred; what the scenes leave open is a story hook."""
    plans = cast("Rows", view.content("art_plans")["plans"])
    assets = rows_in(view, "art_assets", "assets")
    cards = [
        {
            "title": f"{plan['section_id'] or plan['id']}: {detail}"[:200],
            "kind": "scene",
            "player_safe_summary": "A picture needs something the scene does not say.",
            "refs": [str(plan["section_id"])] if plan["section_id"] else [],
        }
        for plan in plans
        for detail in plan.get("missing_details", ())
    ]
    file_cards(foundry, view, cards, "art_director")
    manifest = {
        "plans": [str(plan["id"]) for plan in plans],
        "assets": [str(each["path"]) for each in assets],
        "deferral_tags": [] if "illustrator" in view.awake else ["deferred:art"],
    }
    return CodeOutcome({"art_manifest": manifest}, next_loop="gatecheck")


async def package_audio(foundry: Foundry, view: StepView) -> CodeOutcome:
    """List the cues with their words, and what is deferred."""
    words = {str(row["cue_id"]): row for row in view.content("captions")["items"]}
    cues: Rows = []
    for cue in cast("Rows", view.content("audio_plans")["cues"]):
        told = words.get(str(cue["cue_id"]), {})
        fresh = {k: told[k] for k in ("caption", "text_equivalent", "safety_note") if told.get(k)}
        cues.append({**cue, **fresh})
    tags = [] if "audio_producer" in view.awake else ["deferred:audio"]
    return CodeOutcome({"cuelist": {"cues": cues, "deferral_tags": tags}}, next_loop="gatecheck")


def _source(foundry: Foundry, view: StepView) -> list[dict[str, str]]:
    held = view.content("cold_snapshot")
    return list(pieces_of(foundry.cold_book(foundry.cold.find(str(held["snapshot_id"])))))


async def surfaces(foundry: Foundry, view: StepView) -> Json:
    """Show the pieces of text that readers see."""
    return {"segments": _source(foundry, view)}


async def counted_targets(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Write into the plan how many pieces there are of each kind."""
    plan = said_in(view, "coverage_plan")
    counts: dict[str, int] = {}
    for each in _source(foundry, view):
        counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    return CodeOutcome({"coverage_plan": {**plan, "targets": counts}})


async def true_segments(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Keep every piece with its true source; what was made of another source is outdated."""
    said = cast("Rows", said_in(view, "localized_surfaces")["segments"])
    locale = str(view.content("coverage_plan")["locale"])
    tip = foundry.cold.tip()
    held = {} if tip is None else foundry.cold.contents(tip)
    before = cast("Rows", held.get(f"localized_surfaces/{locale}", {}).get("segments", []))
    terms = cast("Rows", view.content("glossary")["terms"])
    # What was translated before with another word for a term is to be done again.
    fresh = [row for row in before if not _other_words(terms, row)]
    stale = [{**row, "source_sha256": ""} for row in before if _other_words(terms, row)]
    known = {str(row["id"]): row for row in (*stale, *fresh, *said)}
    looked_at = {str(row["id"]) for row in said}
    rows: Rows = []
    for each in _source(foundry, view):
        row = known.get(each["id"], {})
        target = str(row.get("target", ""))
        is_true = row.get("source_sha256") == each["source_sha256"]
        # What was outdated stays so until somebody looks at it again.
        is_true = is_true and (row.get("status") != "outdated" or each["id"] in looked_at)
        status = "todo" if not target else "done" if is_true else "outdated"
        rows.append({**each, "target": target, "status": status})
    return CodeOutcome({"localized_surfaces": {"segments": rows}})


async def gates_in_slice(foundry: Foundry, view: StepView) -> bool:
    """Say whether any words of a gateway were translated."""
    rows = rows_in(view, "localized_surfaces", "segments")
    return any(row["kind"] == "gate" and row["target"] for row in rows)


def _other_words(terms: Rows, row: Mapping[str, Any]) -> list[str]:
    """Say which fixed terms of a piece are translated otherwise than the glossary has them."""
    source, target = str(row["source"]), str(row.get("target", ""))
    told: list[str] = []
    for term in terms if target else ():
        wanted = str(term["source"] if term["dnt"] else term["target"])
        stands = re.search(rf"\b{re.escape(str(term['source']))}\b", source, re.IGNORECASE)
        if stands and wanted.casefold() not in target.casefold():
            told.append(f"{term['source']!r} is not {wanted!r}")
    return told


async def audit_translation(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Compare placeholders and fixed words of every translated piece with its source."""
    terms = cast("Rows", view.content("glossary")["terms"])
    broken: list[str] = []
    for row in view.content("localized_surfaces")["segments"]:
        source, target = str(row["source"]), str(row["target"])
        if not target:
            continue
        if sorted(PLACEHOLDER.findall(source)) != sorted(PLACEHOLDER.findall(target)):
            broken.append(f"{row['id']}: a placeholder is missing or new")
        broken += [f"{row['id']}: {told}" for told in _other_words(terms, row)]
    return CodeOutcome({"link_report": {"broken": broken}})


async def package_translation(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Say how much of each kind is translated."""
    rows = cast("Rows", view.content("localized_surfaces")["segments"])
    kinds = sorted({str(row["kind"]) for row in rows})
    done = {kind: [row for row in rows if row["kind"] == kind] for kind in kinds}
    coverage = {
        kind: round(100 * sum(row["status"] == "done" for row in each) / len(each), 1)
        for kind, each in done.items()
    }
    is_whole = all(each == 100 for each in coverage.values())
    pack = {
        "locale": str(view.content("coverage_plan")["locale"]),
        "coverage": coverage,
        "status": "complete" if is_whole else "incomplete",
        "open_issues": [str(row["id"]) for row in rows if row["status"] == "outdated"],
    }
    return CodeOutcome({"language_pack": pack}, next_loop="gatecheck")
