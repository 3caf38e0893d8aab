"""One agent call: what it is shown, what it says, and the record of both."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from callboard.choreography.holdups import Holdups
from callboard.choreography.values import Input, Reply, as_content, pack_of
from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError, ProviderError
from callboard.core.events import ReplyChunk
from callboard.core.vocabulary import Agent, Content, Effect, StepKind, Trust
from callboard.engine.errors import NotNow
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.models import Finished, Message, ModelReply, ModelRequest, TextChunk
from callboard.models.accounts import BudgetExceeded
from callboard.models.traffic.priority import queue_priority
from callboard.prompts import (
    AssembledPrompt,
    Layer,
    PromptRequest,
    ReplyRecord,
    headed_inputs,
    record_prompt,
    render_template,
    save_prompt,
    save_reply,
)
from callboard.replies import parse_reply
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

_REPLY_TOKENS = {"full": 4000, "medium": 2000, "minimal": 400}


@dataclass(frozen=True, slots=True)
class Call:
    """What a choreography wants of an agent."""

    key: str
    agent_id: str
    prompt: str
    inputs: Mapping[str, Input]
    schema: Mapping[str, Json] | None
    slot: str
    max_tokens: int | None


async def ask_agent(studio: Studio, run: Run, call: Call, holdups: Holdups) -> Reply:
    """Ask once, journal the reply, and return it; a budget that says no holds the run up."""
    agent = studio.repertoire.agent(call.agent_id, pack_of(run))
    contents = {name: as_content(name, value) for name, value in call.inputs.items()}

    async def act(scope: StepScope) -> Json:
        return await _Asking(studio, run, agent, call, contents).perform(scope)

    async def step(act: Callable[[StepScope], Awaitable[Json]]) -> Json:
        return await run.step(
            call.key,
            act,
            inputs={
                "agent": agent.id,
                "prompt": call.prompt,
                "inputs": {name: digest(content.text) for name, content in contents.items()},
                "schema": digest(call.schema) if call.schema is not None else None,
            },
            kind=StepKind.AGENT,
            # Asking again after a crash costs a call but changes nothing in the world.
            effect=Effect.IDEMPOTENT,
            slot=call.slot,
        )

    async def give_up(error: CallboardError) -> Json:
        async def fail(_scope: StepScope) -> Json:
            raise error

        return await step(fail)

    said = await holdups.step(run, call.key, lambda: step(act), give_up)
    if not isinstance(said, dict):
        # A fork replaced the reply by the human's own words.
        said = {"text": str(said), "data": said if call.schema is not None else None}
    spoken = cast(dict[str, Any], said)
    return Reply(
        text=spoken["text"],
        agent_id=agent.id,
        key=run.key(call.key),
        data=spoken.get("data"),
        prompt_id=spoken.get("prompt_id", ""),
    )


class _Asking:
    """The call while it is made."""

    def __init__(
        self, studio: Studio, run: Run, agent: Agent, call: Call, contents: dict[str, Content]
    ) -> None:
        self.studio = studio
        self.run = run
        self.agent = agent
        self.call = call
        self.contents = contents
        self.model = agent.model or studio.settings.models.default
        self.facts = studio.catalog.facts(self.model)
        self.tier = agent.tier or self.facts.tier
        self.max_tokens = call.max_tokens or _REPLY_TOKENS[self.tier.value]

    async def perform(self, scope: StepScope) -> Json:
        prompt = self._assemble()
        prompt_id = await self._save(prompt)
        scope.detail.update({"agent": self.agent.id, "model": self.model, "prompt_id": prompt_id})
        try:
            reply = await self._stream(prompt, prompt_id)
        except BudgetExceeded as error:
            if error.partial:
                await self.studio.database.write(self._keep_partial(prompt_id, error.partial))
            raise NotNow(error) from error
        except ProviderError as error:
            if error.partial:
                scope.commit_with(self._keep_partial(prompt_id, error.partial))
            error.context.setdefault("prompt_id", prompt_id)
            raise
        parsed = parse_reply(reply.text)
        text = reply.text if self.call.schema is not None else parsed.message
        usage: dict[str, Json] = {**asdict(reply.usage), "duration_ms": reply.duration_ms}
        record = ReplyRecord(
            reply.text,
            self.studio.clock.now_ms(),
            usage,
            tuple(str(warning) for warning in parsed.warnings),
        )
        scope.commit_with(lambda connection: save_reply(connection, prompt_id, record))
        scope.preview = " ".join(text[:200].split())
        scope.detail.update(
            {
                "model": reply.model,
                "input_tokens": reply.usage.input_tokens,
                "output_tokens": reply.usage.output_tokens,
                "duration_ms": reply.duration_ms,
            }
        )
        if reply.switched_from is not None:
            scope.detail["switched_from"] = reply.switched_from
        if reply.was_repaired:
            scope.detail["rungs"] = [rung.value for rung in reply.rungs]
        return {"text": text, "data": reply.data, "prompt_id": prompt_id}

    def _assemble(self) -> AssembledPrompt:
        studio = self.studio
        prompts = studio.prompts(pack_of(self.run))
        contract = self.agent.contract
        facts = {
            "name": self.agent.name,
            "archetype": contract.archetype,
            "owns": contract.owns,
            "must_not": contract.must_not,
            "abstains_when": contract.abstains_when,
        }
        told = {name: Content(text, "pack", Trust.TRUSTED) for name, text in facts.items()}
        role = render_template(prompts.get("role_contract", self.tier), told)
        values = {
            "role_contract": role,
            "inputs": headed_inputs(self.contents),
            **self.contents,
        }
        template = prompts.get(self.call.prompt, self.tier)
        request = PromptRequest(
            layers=(Layer("role", role, pinned=True, stable=True),),
            message=render_template(template, values),
            limit_tokens=self.facts.window_tokens - self.max_tokens,
            model_id=self.model,
            tier=self.tier,
        )
        return studio.assembler.assemble(request)

    async def _save(self, prompt: AssembledPrompt) -> str:
        """Store what is about to be sent, so that even a call that never returns can be read."""
        studio = self.studio
        record = replace(
            record_prompt(prompt, studio.ids.make("prompt"), studio.clock.now_ms()),
            session_id=self.run.session_id,
            run_id=self.run.id,
            step_key=self.run.key(self.call.key),
            agent_id=self.agent.id,
            mode=self.call.prompt,
        )
        await studio.database.write(lambda connection: save_prompt(connection, record))
        return record.id

    async def _stream(self, prompt: AssembledPrompt, prompt_id: str) -> ModelReply:
        request = ModelRequest(
            model=self.model,
            messages=tuple(
                Message("system" if m.role == "system" else "user", m.content)
                for m in prompt.messages
            ),
            json_schema=self.call.schema,
            max_tokens=self.max_tokens,
            session_id=self.run.session_id,
            run_id=self.run.id,
            step_key=self.run.key(self.call.key),
            agent_id=self.agent.id,
            prompt_id=prompt_id,
            priority=queue_priority(self.agent.contract.archetype),
            metadata={
                "prompt_type": self.call.prompt,
                "pack": pack_of(self.run),
                "estimated_tokens": prompt.total_tokens,
            },
        )
        async with aclosing(self.studio.gate.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    self.run.show(ReplyChunk(self.agent.id, chunk.text), self.call.key)
                elif isinstance(chunk, Finished):
                    return chunk.reply
        raise ProviderError(f"{self.model} stopped without finishing its reply")

    def _keep_partial(self, prompt_id: str, partial: str) -> Callable[[Connection], None]:
        record = ReplyRecord(partial, self.studio.clock.now_ms(), {}, ("partial",))

        def keep(connection: Connection) -> None:
            save_reply(connection, prompt_id, record)

        return keep
