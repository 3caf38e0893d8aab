"""Code of the harvest: numbers story hooks, takes them in, judges and moves them as decided."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.roster import SHOWRUNNER
from callboard.packs.questfoundry.steps.reports import Flaws, flaw, rows_in, said_in
from callboard.packs.questfoundry.story_hooks.ledger import repeats
from callboard.packs.questfoundry.story_hooks.story_hook import HookState
from callboard.packs.questfoundry.verdict import Bar, BarFinding
from callboard.store.connection import Connection

_LOOP_OF: Final = {
    "structure": "story_spark",
    "taxonomy": "codex_expansion",
    "style": "style_tune_up",
    "art": "art_touch_up",
    "audio": "audio_pass",
    "translation": "translation_pass",
}
_LORE: Final = "lore_deepening"


def file_cards(
    foundry: Foundry, view: StepView, cards: list[dict[str, Any]], raised_by: str
) -> None:
    """File cards as proposed story hooks, together with the step."""
    if not cards:
        return

    def act(connection: Connection) -> None:
        for card in cards:
            foundry.hooks.file(connection, card, raised_by=raised_by, tu_id=view.unit)

    view.scope.commit_with(act)


async def hand_off_hooks(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Number the story hooks of a spark and hand them to the harvest."""
    hooks = view.content("hooks")
    if not hooks or not hooks["hooks"]:
        return CodeOutcome(message="no story hooks: what comes next is open")
    cards = cast("list[dict[str, Any]]", hooks["hooks"])
    file_cards(foundry, view, cards, view.artifacts["hooks"].produced_by)
    told = f"{len(cards)} story hooks"
    return CodeOutcome(message=told, next_loop="hook_harvest", next_inputs=("hooks",))


async def proposed_hooks(foundry: Foundry, view: StepView) -> Json:
    """Show every proposed story hook, and which repeat another."""
    hooks = foundry.hooks.in_state("proposed")
    alike = repeats(hooks)
    return {
        "story_hooks": [
            {
                "hook_id": each.id,
                "title": each.title,
                "kind": each.kind,
                "summary": each.card["player_safe_summary"],
                "uncertainty": each.card.get("uncertainty", "none"),
                "duplicate_of": alike.get(each.id),
            }
            for each in hooks
        ]
    }


async def whole_intake(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Take in every proposed story hook once, whatever was left out or invented."""
    hooks = foundry.hooks.in_state("proposed")
    said = said_in(view, "hook_intake")
    twins = {str(row["hook_id"]): row.get("duplicate_of") for row in said.get("hooks", ())}
    known = {each.id for each in hooks}
    alike = repeats(hooks)
    rows = [
        {
            "hook_id": each.id,
            "duplicate_of": alike.get(each.id)
            or (twins.get(each.id) if twins.get(each.id) in known - {each.id} else None),
        }
        for each in hooks
    ]
    return CodeOutcome({"hook_intake": {"hooks": rows}}, message=f"{len(rows)} story hooks")


async def package_harvest(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Sum up the harvest from the decisions; the questions are the Showrunner's."""
    decided = cast("list[dict[str, Any]]", view.content("triage_decisions")["decisions"])
    by: dict[str, list[str]] = {"accepted": [], "deferred": [], "rejected": []}
    for row in decided:
        by[row["decision"]].append(str(row["hook_id"]))
    sheet = said_in(view, "harvest_sheet") | by
    intake = said_in(view, "canon_intake")
    asked = {hook for row in intake["questions"] for hook in row.get("hook_ids", ())}
    left = [hook for hook in by["accepted"] if hook not in asked and _goes(foundry, hook) == _LORE]
    more = [
        {"id": f"Q-{hook}", "question": foundry.hooks.find(hook).title, "hook_ids": [hook]}
        for hook in left
    ]
    return CodeOutcome(
        {
            "harvest_sheet": sheet,
            "triaged_hooks": {"hook_ids": by["accepted"]},
            "canon_intake": {"questions": [*intake["questions"], *more]},
        }
    )


def _goes(foundry: Foundry, hook_id: str) -> str:
    return _LOOP_OF.get(foundry.hooks.find(hook_id).kind, _LORE)


async def hand_off_harvest(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Move the story hooks, and go where most of the accepted ones go."""
    decided = cast("list[dict[str, Any]]", view.content("triage_decisions")["decisions"])
    intake = cast("list[dict[str, Any]]", view.content("hook_intake")["hooks"])
    twins = {str(row["hook_id"]): row.get("duplicate_of") for row in intake}

    def act(connection: Connection) -> None:
        for row in decided:
            hook_id = str(row["hook_id"])
            if foundry.hooks.load(connection, hook_id).status != "proposed":
                continue
            foundry.hooks.move(
                connection,
                hook_id,
                cast("HookState", row["decision"]),
                by=SHOWRUNNER,
                owner_role=row.get("owner_role"),
                next_loop=row.get("next_loop"),
                decision_reason=row.get("reason"),
                wake_condition=row.get("wake_condition"),
                duplicate_of=row.get("duplicate_of") or twins.get(hook_id),
                triage_tags=tuple(row.get("tags", ())),
            )

    view.scope.commit_with(act)
    going = Counter(
        _goes(foundry, str(row["hook_id"])) for row in decided if row["decision"] == "accepted"
    )
    if not going:
        return CodeOutcome(message="nothing was accepted")
    most = max(going.values())
    first = [name for name, count in going.items() if count == most]
    chosen = _LORE if _LORE in first else sorted(first)[0]
    return CodeOutcome(
        message=f"most go to {chosen}",
        next_loop=chosen,
        next_inputs=("canon_intake", "triaged_hooks"),
    )


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
