"""An agent call: what is wanted of an agent, and the record of what was sent and said."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from callboard.choreography.conversation import Listener
from callboard.choreography.values import Input
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.models import ModelReply
from callboard.prompts import (
    AssembledPrompt,
    Layer,
    PromptRequest,
    ReplyRecord,
    Turn,
    record_prompt,
    save_prompt,
    save_reply,
)
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

Around = Callable[[StepScope, Callable[[], Awaitable[Json]]], Awaitable[Json]]
"""Asks, and returns what is journaled in place of the bare reply."""

Compose = Callable[[Listener], PromptRequest]
"""Makes the prompt of a call for the model that will read it."""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """What a choreography wants of an agent."""

    key: str
    agent_id: str
    prompt: str
    inputs: Mapping[str, Input]
    schema: Mapping[str, Json] | None
    slot: str | None
    max_tokens: int | None
    timeout_seconds: float | None = None
    history: tuple[Turn, ...] = ()
    priority: int | None = None
    # What frames the message and is no input: the task, answers to earlier parts. The task opens
    # the message where the template does not place it.
    framing: Mapping[str, Content] = field(default_factory=dict[str, Content])
    # The micro part of the template that is asked, where it has parts.
    part: str | None = None
    # What ends the message, after everything the template says.
    closing: Content | None = None
    # What is made of the reply within the same step; it is handed the function that asks.
    around: Around | None = None
    # Another model than the agent's own, where several are compared or one was chosen.
    model: str | None = None
    # Lays the whole prompt out for whoever is going to read it, in place of the one template;
    # then `prompt` only names the call, and `inputs` are what its result depends on.
    compose: Compose | None = None
    # What of the project it is shown beside the template, each piece with where it comes from.
    layers: tuple[Layer, ...] = ()
    # How freely the model may choose its words; None leaves it to the model.
    temperature: float | None = None


class CallTranscript:
    """Keeps what goes out with one call and what comes back."""

    def __init__(self, studio: Studio, run: Run, agent_id: str, key: str) -> None:
        """Take the run and the agent the call belongs to, and its key."""
        self._studio = studio
        self._run = run
        self._agent_id = agent_id
        self._key = key

    async def prompt(self, prompt: AssembledPrompt, mode: str) -> str:
        """Store what is about to be sent, so that even a call that never returns can be read."""
        studio = self._studio
        record = replace(
            record_prompt(prompt, studio.ids.make("prompt"), studio.clock.now_ms()),
            session_id=self._run.session_id,
            run_id=self._run.id,
            step_key=self._run.key(self._key),
            agent_id=self._agent_id,
            mode=mode,
        )
        await studio.database.write(lambda connection: save_prompt(connection, record))
        return record.id

    def reply(
        self, prompt_id: str, reply: ModelReply, warnings: tuple[str, ...] = ()
    ) -> Callable[[Connection], None]:
        """Return what stores a reply."""
        usage: dict[str, Json] = {**asdict(reply.usage), "duration_ms": reply.duration_ms}
        record = ReplyRecord(reply.text, self._studio.clock.now_ms(), usage, warnings)
        return lambda connection: save_reply(connection, prompt_id, record)

    def partial(self, prompt_id: str, text: str) -> Callable[[Connection], None]:
        """Return what stores the beginning of a reply that never ended."""
        record = ReplyRecord(text, self._studio.clock.now_ms(), {}, ("partial",))
        return lambda connection: save_reply(connection, prompt_id, record)
