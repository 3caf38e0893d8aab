"""Code of the style loop: what is sampled, what must be answered, and the structure that stays."""

from typing import cast

from callboard.choreography.loop import CodeOutcome, Misfit, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.harvest import file_cards
from callboard.packs.questfoundry.steps.reports import Rows, said_in


def _thirds(ids: list[str]) -> list[list[str]]:
    size = max(1, len(ids) // 3)
    return [ids[:size], ids[size : 2 * size] or ids, ids[2 * size :] or ids]


async def sections_to_sample(foundry: Foundry, view: StepView) -> Json:
    """Show which sections are early, in the middle and late."""
    ids = [str(row["section_id"]) for row in view.content("scene_drafts")["sections"]]
    early, middle, late = _thirds(ids)
    return {"early": early, "middle": middle, "late": late}


async def sampled_throughout(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Refuse a diagnosis that did not read from the beginning, the middle and the end."""
    ids = [str(row["section_id"]) for row in view.content("scene_drafts")["sections"]]
    read = {*said_in(view, "drift_report")["sampled"]}
    places = zip(("early", "middle", "late"), _thirds(ids), strict=True)
    missing = [name for name, part in places if not read & {*part}]
    if missing:
        told = f"no section was read that is {' or '.join(missing)}"
        return CodeOutcome(errors=(Misfit("drift_report.sampled", told),))
    return CodeOutcome()


async def every_must_answered(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Refuse a revision that passes over a note that must be applied."""
    notes = cast("Rows", view.content("edit_notes")["notes"])
    revised = cast("Rows", said_in(view, "revised_prose")["sections"])
    said = [str(each) for row in revised for each in row.get("notes_applied", ())]
    # An answer is the id of a note, or its id and why it was refused: `n3: she would not say so`.
    answered = {each.partition(":")[0].strip() for each in said}
    left = [
        str(row["id"]) for row in notes if row["severity"] == "must" and row["id"] not in answered
    ]
    if left:
        told = f"these notes must be applied or refused with a reason: {', '.join(left)}"
        return CodeOutcome(errors=(Misfit("revised_prose.notes_applied", told),))
    return CodeOutcome()


async def structure_guard(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Compare what revised prose says of the structure with the plan and the prose before."""
    before = {str(row["section_id"]): row for row in view.content("scene_drafts")["sections"]}
    held = foundry.held_with(foundry.behind(foundry.units.find(view.unit)))
    planned = {str(row["id"]): row for row in held.get("topology_notes", {}).get("choices", ())}
    found: list[dict[str, str]] = []
    for row in view.content("revised_prose")["sections"]:
        name = str(row["section_id"])
        old = before.get(name)
        if old is None:
            found.append({"path": name, "before": "", "after": "a section nobody planned"})
            continue
        was = [str(each["choice_id"]) for each in old["choices"]]
        now = [str(each["choice_id"]) for each in row["choices"]]
        if sorted(was) != sorted(now):
            path = f"{name}.choices"
            found.append({"path": path, "before": ", ".join(was), "after": ", ".join(now)})
        for each in row["choices"]:
            target = planned.get(str(each["choice_id"]), {}).get("to")
            if each.get("to") and target is not None and each["to"] != target:
                path = f"{name}.{each['choice_id']}.to"
                found.append({"path": path, "before": str(target), "after": str(each["to"])})
    if found:
        card = {
            "title": f"Prose asks for another structure: {found[0]['path']}"[:200],
            "kind": "structure",
            "player_safe_summary": "A revision of prose wanted to change where a choice leads.",
            "hot_details": "; ".join(f"{e['path']}: {e['before']} → {e['after']}" for e in found),
        }
        file_cards(foundry, view, [card], "scene_smith")
    return CodeOutcome({"structure_diff": {"differences": found}})


async def hand_off_style(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Hand reworded prose on: to the pictures if somebody plans them, else to the gatecheck."""
    goes = "art_touch_up" if "art_director" in view.awake else "gatecheck"
    return CodeOutcome(next_loop=goes)
