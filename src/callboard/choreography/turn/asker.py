"""Nodes: who is asked at each point of a turn, with which texts, and how much it may cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.conversation import Listener
from callboard.choreography.staffing import find_agent, is_constrained
from callboard.choreography.stage import Stage
from callboard.choreography.turn.sections import EXAMPLES, TRIM_ORDER, PromptSection
from callboard.choreography.turn.shapes import StepType
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Trust
from callboard.engine.scope import StepScope
from callboard.prompts import Layer, PromptRequest, TrimOrder, render_template


@dataclass(frozen=True, slots=True)
class PromptNode:
    """One kind of model call: its name, its agent's archetype, its prompt files, its budget."""

    name: str
    agent: str
    prompts: tuple[str, ...]
    input_tokens: int
    output_tokens: int


UNDERSTAND: Final = PromptNode("understand", "listener", ("understand",), 1500, 300)
QUICK: Final = PromptNode("quick", "listener", ("quick",), 2000, 600)
THINK: Final = PromptNode("think", "planner", ("think",), 2000, 800)
REPLY: Final = PromptNode("reply", "host", ("reply",), 2000, 1000)
SUMMARIZE: Final = PromptNode("summarize", "scribe", ("summarize",), 3000, 500)
ACT: Final = {
    kind: PromptNode(f"act_{kind.value}", "hand", ("act/base", f"act/{kind.value}"), 3000, 1000)
    for kind in StepType
}


@dataclass(frozen=True, slots=True)
class NodeReply:
    """What came back: the text, or the JSON that was asked for."""

    text: str
    data: Any = None


@dataclass
class NodeAsker:
    """Asks on behalf of one turn."""

    stage: Stage
    mode: str
    # Every call of the turn: node, tokens, time, the hash of the prompt. Filled by `ask`.
    calls: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])

    def on(self, stage: Stage) -> "NodeAsker":
        """Return the same asker on a branch of the stage; it counts into the same list."""
        return NodeAsker(stage, self.mode, self.calls)

    @property
    def pack(self) -> str:
        """The pack whose staff is asked."""
        return pack_of(self.stage.run)

    @property
    def spent(self) -> int:
        """How many calls were made, without those that sum up."""
        return sum(1 for call in self.calls if call["node"] != "summarize")

    def is_constrained(self, node: PromptNode) -> bool:
        """Say whether a node's model is held to choices instead of trusted to reason."""
        studio = self.stage.studio
        return is_constrained(studio, find_agent(studio, node.agent, self.pack))

    def paragraphs(self, prompt: str, most: int | None = None) -> str:
        """Return the paragraphs of a text of the pack, the first so many of them."""
        registry = self.stage.studio.prompts(self.pack)
        text = render_template(registry.get(prompt), {}).text.strip()
        return "\n\n".join(text.split("\n\n")[:most])

    def examples(self, prompt: str, most: int) -> PromptSection:
        """Return as many examples as a mode wants; the first to give way."""
        return PromptSection(
            EXAMPLES, self.paragraphs(prompt, most) if most else "", is_trusted=True
        )

    async def ask(
        self,
        key: str,
        node: PromptNode,
        sections: Sequence[PromptSection],
        message: str,
        *,
        schema: Mapping[str, Json] | None = None,
    ) -> NodeReply:
        """Return what a node's agent says; whatever goes wrong is raised as the step's error."""
        agent = find_agent(self.stage.studio, node.agent, self.pack)

        def compose(listener: Listener) -> PromptRequest:
            return compose_prompt(self.stage, node, sections, message, listener)

        async def around(scope: StepScope, perform: Any) -> Json:
            said = cast("dict[str, Json]", await perform())
            detail = scope.detail
            call: dict[str, Json] = {
                "node": node.name,
                "mode": self.mode,
                "model": detail.get("model"),
                "input_tokens": detail.get("input_tokens"),
                "output_tokens": detail.get("output_tokens"),
                "duration_ms": detail.get("duration_ms"),
                "prompt_id": said.get("prompt_id"),
                "prompt_hash": digest([message, [s.text for s in sections]])[:16],
            }
            return {**said, "call": call}

        stored = await self.stage.ask_call(
            AgentCall(
                key=key,
                agent_id=agent.id,
                prompt=node.prompts[-1],
                inputs={"message": message},
                schema=schema,
                slot=None,
                max_tokens=node.output_tokens,
                priority=self.stage.priority,
                around=around,
                compose=compose,
            )
        )
        if not isinstance(stored, dict):
            return NodeReply(str(stored), stored)
        spoken = cast("dict[str, Any]", stored)
        self.calls.append(spoken.get("call") or {"node": node.name, "mode": self.mode})
        return NodeReply(str(spoken.get("text", "")), spoken.get("data"))


def compose_prompt(
    stage: Stage,
    node: PromptNode,
    sections: Sequence[PromptSection],
    message: str,
    listener: Listener,
) -> PromptRequest:
    """Lay a node's prompt out: its instructions, its sections, the message; trimmed in order."""
    registry = stage.studio.prompts(pack_of(stage.run))
    texts = [
        render_template(registry.get(name, listener.tier), {}).text.strip() for name in node.prompts
    ]
    instructions = Content("\n\n".join(texts), f"pack:{node.prompts[-1]}", Trust.TRUSTED)
    shown = [each for each in sections if each.text.strip()]
    layers = (
        Layer("instructions", instructions, pinned=True, stable=True),
        *(each.layer() for each in shown),
    )
    by_heading = {each.heading: each for each in shown}
    return PromptRequest(
        layers=layers,
        message=Content(message, "user", Trust.TRUSTED),
        limit_tokens=min(node.input_tokens, listener.window_tokens - listener.reply_tokens),
        trim_order=tuple(heading for heading in TRIM_ORDER if heading in by_heading),
        order=TrimOrder.AS_GIVEN,
        model_id=listener.model,
        tier=listener.tier,
    )
