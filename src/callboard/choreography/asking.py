"""One agent call: what it is shown, what it says, and the record of both."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NoReturn, cast

from callboard.choreography.agent_call import AgentCall, CallTranscript
from callboard.choreography.conversation import Listener, history_digest, with_history
from callboard.choreography.holdups import Holdups, can_be_helped
from callboard.choreography.staffing import PROCESSING, showing
from callboard.choreography.values import Reply, as_content, pack_of
from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError, ProviderError
from callboard.core.events import ReplyChunk, ReplyVoided
from callboard.core.vocabulary import Agent, Content, Effect, StepKind, Trust
from callboard.engine.errors import NotNow
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.models import Finished, Message, ModelReply, ModelRequest, Restarted, TextChunk
from callboard.models.accounts import BudgetExceeded
from callboard.models.traffic.priority import queue_priority
from callboard.models.types import Role
from callboard.prompts import (
    RESERVED_NAMES,
    AssembledPrompt,
    Layer,
    PromptRequest,
    fence,
    headed_inputs,
    render_template,
)
from callboard.replies import parse_reply
from callboard.studio.studio import Studio

_REPLY_TOKENS = {"full": 4000, "medium": 2000, "minimal": 400}


async def ask_agent(studio: Studio, run: Run, call: AgentCall, holdups: Holdups) -> Reply:
    """Ask once, journal the reply, and return it; a budget that says no holds the run up."""
    said = await ask_step(studio, run, call, holdups)
    if not isinstance(said, dict):
        # A fork replaced the reply by the human's own words.
        said = {"text": str(said), "data": said if call.schema is not None else None}
    spoken = cast(dict[str, Any], said)
    return Reply(
        text=spoken["text"],
        agent_id=studio.repertoire.agent(call.agent_id, pack_of(run)).id,
        key=run.key(call.key),
        data=spoken.get("data"),
        prompt_id=spoken.get("prompt_id", ""),
        raw=spoken.get("raw", spoken["text"]),
    )


async def ask_step(studio: Studio, run: Run, call: AgentCall, holdups: Holdups) -> Json:
    """Do the same and return what the journal holds, whatever a fork put there."""
    agent = studio.repertoire.agent(call.agent_id, pack_of(run))
    contents = {name: as_content(name, value) for name, value in call.inputs.items()}

    async def act(scope: StepScope) -> Json:
        asking = _Asking(studio, run, agent, call, contents, holdups)
        if call.around is None:
            return await asking.perform(scope)
        return await call.around(scope, lambda: asking.perform(scope))

    inputs: dict[str, Json] = {
        "agent": agent.id,
        "prompt": call.prompt,
        "inputs": {name: digest(content.text) for name, content in contents.items()},
        "schema": digest(call.schema) if call.schema is not None else None,
    }
    if call.model is not None:
        inputs["model"] = call.model
    if call.history:
        inputs["history"] = history_digest(call.history)
    if call.layers:
        inputs["layers"] = [digest(layer.content.text) for layer in call.layers]
    if call.part is not None or call.framing:
        inputs["part"] = call.part
        inputs["closing"] = None if call.closing is None else digest(call.closing.text)
        inputs["framing"] = {name: digest(each.text) for name, each in call.framing.items()}

    async def step(act: Callable[[StepScope], Awaitable[Json]]) -> Json:
        return await run.step(
            call.key,
            act,
            inputs=inputs,
            kind=StepKind.AGENT,
            # Asking again after a crash costs a call but changes nothing in the world.
            effect=Effect.IDEMPOTENT,
            slot=call.slot,
        )

    async def give_up(error: CallboardError) -> Json:
        async def fail(_scope: StepScope) -> Json:
            raise error

        return await step(fail)

    return await holdups.step(run, call.key, lambda: step(act), give_up)


class _Asking:
    """The call while it is made."""

    def __init__(
        self,
        studio: Studio,
        run: Run,
        agent: Agent,
        call: AgentCall,
        contents: dict[str, Content],
        holdups: Holdups,
    ) -> None:
        self.studio = studio
        self.run = run
        self.agent = agent
        self.call = call
        self.contents = contents
        self.wanted = call.model or agent.model or studio.settings.models.default
        self.model = holdups.model_for(self.wanted)
        self.facts = studio.catalog.facts(self.model)
        self.tier = (agent.tier if call.model is None else None) or self.facts.tier
        # A reply may not take more than half of a small window: the prompt needs room too.
        usual = min(_REPLY_TOKENS[self.tier.value], self.facts.window_tokens // 2)
        self.max_tokens = call.max_tokens or usual
        self.record = CallTranscript(studio, run, agent.id, call.key)

    async def perform(self, scope: StepScope) -> Json:
        prompt = await self._assemble()
        prompt_id = await self.record.prompt(prompt, self.call.prompt)
        scope.detail.update({"agent": self.agent.id, "model": self.model, "prompt_id": prompt_id})
        try:
            with showing(self.studio, self.run, self.agent.id, PROCESSING, self.call.key):
                reply = await self._stream(prompt, prompt_id)
        except BudgetExceeded as error:
            if error.partial:
                await self.studio.database.write(self.record.partial(prompt_id, error.partial))
            raise NotNow(error) from error
        except ProviderError as error:
            error.context.setdefault("prompt_id", prompt_id)
            error.context.setdefault("model", self.model)
            if can_be_helped(error, self.studio.settings):
                await self._put_off(error, prompt_id)
            if error.partial:
                scope.commit_with(self.record.partial(prompt_id, error.partial))
            raise
        parsed = parse_reply(reply.text)
        text = reply.text if self.call.schema is not None else parsed.message
        warnings = tuple(str(warning) for warning in parsed.warnings)
        scope.commit_with(self.record.reply(prompt_id, reply, warnings))
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
        said: dict[str, Json] = {"text": text, "data": reply.data, "prompt_id": prompt_id}
        # Journaled only where the message is not the whole reply.
        return said if text == reply.text.strip() else {**said, "raw": reply.text}

    async def _assemble(self) -> AssembledPrompt:
        studio = self.studio
        listener = Listener(self.model, self.tier, self.facts.window_tokens, self.max_tokens)
        if self.call.compose is not None:
            return studio.assembler.assemble(self.call.compose(listener))
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
            **self.call.framing,
        }
        template = prompts.get(self.call.prompt, self.tier)
        if self.call.part is not None:
            template = template.narrowed_to(self.call.part)
        opening = [name for name in RESERVED_NAMES if name in self.call.framing]
        request = PromptRequest(
            layers=(Layer("role", role, pinned=True, stable=True), *self.call.layers),
            message=_closed(render_template(template, values, prepend=opening), self.call.closing),
            limit_tokens=self.facts.window_tokens - self.max_tokens,
            model_id=self.model,
            tier=self.tier,
        )
        if self.call.history:
            request = await with_history(
                studio, request, self.call.history, listener, self._ask_summary
            )
        return studio.assembler.assemble(request)

    async def _ask_summary(self, prompt: AssembledPrompt, mode: str, max_tokens: int) -> str:
        """Have the same model sum up a conversation, on record like every call."""
        prompt_id = await self.record.prompt(prompt, mode)
        request = replace(self._request(prompt, prompt_id, mode), max_tokens=max_tokens)
        reply = await self.studio.gate.complete(replace(request, json_schema=None))
        await self.studio.database.write(self.record.reply(prompt_id, reply))
        return parse_reply(reply.text).message

    def _request(self, prompt: AssembledPrompt, prompt_id: str, mode: str) -> ModelRequest:
        ranked = queue_priority(self.agent.contract.archetype)
        return ModelRequest(
            model=self.model,
            messages=tuple(Message(_role(m.role), m.content) for m in prompt.messages),
            json_schema=self.call.schema,
            max_tokens=self.max_tokens,
            temperature=self.call.temperature,
            timeout_seconds=self.call.timeout_seconds,
            # Silence within the time allowed is no reason to ask again.
            inactivity_seconds=self.call.timeout_seconds,
            session_id=self.run.session_id,
            run_id=self.run.id,
            step_key=self.run.key(self.call.key),
            agent_id=self.agent.id,
            prompt_id=prompt_id,
            priority=ranked if self.call.priority is None else self.call.priority,
            metadata={
                "prompt_type": mode,
                "pack": pack_of(self.run),
                "estimated_tokens": prompt.total_tokens,
            },
        )

    async def _stream(self, prompt: AssembledPrompt, prompt_id: str) -> ModelReply:
        request = self._request(prompt, prompt_id, self.call.prompt)
        said: list[str] = []
        try:
            async with aclosing(self.studio.gate.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, TextChunk):
                        said.append(chunk.text)
                        self.run.show(ReplyChunk(self.agent.id, chunk.text), self.call.key)
                    elif isinstance(chunk, Restarted):
                        said.clear()
                        self.run.show(ReplyVoided(self.agent.id, chunk.reason), self.call.key)
                    elif isinstance(chunk, Finished):
                        return chunk.reply
        except asyncio.CancelledError:
            if said:
                # Not waited for: whoever cancels must not wait for a disk.
                self.studio.database.submit(self.record.partial(prompt_id, "".join(said)))
            raise
        raise ProviderError(f"{self.model} stopped without finishing its reply")

    async def _put_off(self, error: ProviderError, prompt_id: str) -> NoReturn:
        """Let the human decide how to go on."""
        if error.partial:
            await self.studio.database.write(self.record.partial(prompt_id, error.partial))
        error.context.update({"model": self.model, "asked_model": self.wanted})
        raise NotNow(error) from error


def _role(role: str) -> Role:
    return role if role in ("system", "assistant") else "user"


def _closed(message: Content, closing: Content | None) -> Content:
    if closing is None:
        return message
    return replace(message, text=f"{message.text}\n\n{fence(closing)}")
