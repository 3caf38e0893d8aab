"""One role asked by the human directly: no loop, no Showrunner, and the same checks.

What it makes is stored as a draft that belongs to no unit of work, and only if it is valid.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from callboard.choreography.conversation import agent_turn, user_turn
from callboard.choreography.loop.envelope import RoleResponse, WantedKinds, read_envelope
from callboard.choreography.loop.house import LoopHouse
from callboard.choreography.loop.ports import ArtifactDraft, PromptMode, StoredArtifact
from callboard.choreography.loop.prompting import LoopPrompts, prompt_parts
from callboard.choreography.loop.speaking import LoopCall, speak
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Effect, StepKind, Trust
from callboard.engine.scope import StepScope
from callboard.prompts import Turn


@dataclass(frozen=True, slots=True)
class AloneReply:
    """What a role said to the human, and what of it is kept."""

    text: str
    response: RoleResponse | None = None
    artifacts: tuple[StoredArtifact, ...] = ()


async def ask_alone(
    stage: Stage, house: LoopHouse, role: str, words: str, kinds: Sequence[str] = ()
) -> AloneReply:
    """Ask a role with its full prompt; with kinds, for artifacts of these, else for words."""
    workspace = house.workspace
    index = workspace.schemas(tuple(kinds)) if kinds else ""
    registry = stage.studio.prompts(house.pack)
    layers = prompt_parts(registry, role, PromptMode.STANDALONE, index, showrunner=False)
    message = Content(words, "user", Trust.TRUSTED)
    if not kinds:
        said = await speak(stage, LoopCall("ask", role, "standalone", layers, message))
        return AloneReply(said.text)
    wanted = WantedKinds(tuple(kinds), frozenset(kinds), workspace, house.settings.most_entries)
    prompts = LoopPrompts(stage.studio, house)
    turns: tuple[Turn, ...] = ()
    text, response = "", RoleResponse(role)
    for number in range(house.settings.repairs + 1):
        key = f"repair/{number}" if number else "ask"
        text = (await speak(stage, LoopCall(key, role, "standalone", layers, message, turns))).text
        response = read_envelope(role, text, wanted)
        if response.valid:
            break
        turns = (*turns, user_turn(message.text), agent_turn(role, text))
        faults = "\n".join(f"- {each.path}: {each.message}" for each in response.errors[:20])
        message = prompts.message("repair", errors=faults, outputs=", ".join(kinds))
    if not response.valid:
        return AloneReply(text, response)
    return AloneReply(text, response, await _store(stage, house, response))


async def _store(
    stage: Stage, house: LoopHouse, response: RoleResponse
) -> tuple[StoredArtifact, ...]:
    drafts = [
        ArtifactDraft(kind, content, "standalone", response.role, {})
        for kind, content in response.artifacts.items()
    ]

    async def act(scope: StepScope) -> Json:
        return [asdict(each) for each in await house.workspace.store(stage, scope, "", drafts)]

    kind = StepKind.TOOL if house.workspace.leaves_receipts else StepKind.WORK
    depends: dict[str, Json] = {name: digest(each) for name, each in response.artifacts.items()}
    rows = await stage.run.step("store", act, inputs=depends, kind=kind, effect=Effect.IDEMPOTENT)
    return tuple(StoredArtifact(**each) for each in cast("list[Any]", rows))
