"""What is said within a loop: calls laid out whole, and events, both stored with their step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.conversation import Listener
from callboard.choreography.loop.prompting import told
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.events import Emitted
from callboard.core.vocabulary import Content
from callboard.engine.scope import StepScope
from callboard.prompts import History, Layer, PromptRequest, TrimOrder, Turn
from callboard.store.journal.events import append_event
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class LoopReply:
    """What somebody said, and how large what they were shown was."""

    text: str
    data: Json = None
    prompt_id: str = ""
    model: str = ""
    context: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])


@dataclass(frozen=True, slots=True)
class LoopCall:
    """One call: who is asked, with which layers, message and conversation."""

    key: str
    role: str
    prompt: str
    layers: tuple[Layer, ...]
    message: Content
    history: tuple[Turn, ...] = ()
    schema: Mapping[str, Json] | None = None


async def speak(stage: Stage, call: LoopCall) -> LoopReply:
    """Ask, and return what was said with the size of what was shown, both from the journal."""
    shown: list[Layer] = []

    def compose(listener: Listener) -> PromptRequest:
        shown.extend(call.layers)
        return PromptRequest(
            layers=call.layers,
            message=call.message,
            history=History(call.history),
            limit_tokens=listener.window_tokens - listener.reply_tokens,
            order=TrimOrder.AS_GIVEN,
            model_id=listener.model,
            tier=listener.tier,
        )

    async def around(scope: StepScope, perform: Any) -> Json:
        said = cast("dict[str, Json]", await perform())
        sizes = _sizes(stage.studio, call, shown)
        return {**said, "model": scope.detail.get("model", ""), "context": sizes}

    stored = await stage.ask_call(
        AgentCall(
            key=call.key,
            agent_id=call.role,
            prompt=call.prompt,
            inputs={
                "message": call.message,
                "layers": digest([_material(layer) for layer in call.layers]),
                "history": digest([[turn.role, turn.content.text] for turn in call.history]),
            },
            schema=call.schema,
            slot=stage.run.key(call.key),
            max_tokens=None,
            priority=stage.priority,
            around=around,
            compose=compose,
        )
    )
    if not isinstance(stored, dict):
        # A fork put the human's own words in the place of the reply.
        return LoopReply(told(stored), stored)
    said = cast("dict[str, Any]", stored)
    return LoopReply(
        str(said.get("raw", said["text"])),
        said.get("data"),
        str(said.get("prompt_id", "")),
        str(said.get("model", "")),
        said.get("context", {}),
    )


def _material(layer: Layer) -> Json:
    # Prompts may be edited while a run is down; what it works on may not.
    return [layer.name, "" if layer.stable else layer.content.text]


def _sizes(studio: Studio, call: LoopCall, shown: Sequence[Layer]) -> dict[str, dict[str, int]]:
    """Return lines and tokens of what was shown, by component."""
    sizes: dict[str, dict[str, int]] = {}
    turns = "\n".join(turn.content.text for turn in call.history)
    texts = [(_component(layer.name), layer.content.text) for layer in shown]
    for name, text in (*texts, ("history", turns), ("message", call.message.text)):
        if not text:
            continue
        size = sizes.setdefault(name, {"lines": 0, "tokens": 0})
        size["lines"] += text.count("\n") + 1
        size["tokens"] += studio.counter.count(text)
    return sizes


def _component(layer: str) -> str:
    if layer in ("validation_contract", "schema_index"):
        return "contract"
    if layer in ("tier1", "tier2", "state"):
        return layer
    return "artifacts" if layer.startswith(("artifact.", "found")) else "system"


def tell(stage: Stage, scope: StepScope, name: str, data: Mapping[str, Json]) -> None:
    """Say something to whoever watches, once: the event is stored with the step it is about."""
    body = Emitted(f"loop.{name}", dict(data))
    at, run = stage.studio.clock.now_ms(), stage.run
    scope.commit_with(
        lambda connection: append_event(
            connection,
            body,
            at=at,
            session_id=run.session_id,
            run_id=run.id,
            step_key=scope.key,
        )
    )
