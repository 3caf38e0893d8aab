"""Stage: what a choreography works with. Asks agents, uses tools, asks the human, checks.

Everything that must not be lost happens in a journaled step under the key the caller gives; the
last part of the key is also the name of the prompt, unless another one is named.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.answers import one_of, schema_of
from callboard.choreography.asking import ask_agent, ask_step
from callboard.choreography.holdups import Holdups
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.choreography.values import Input, NotDone, Reply, ToolOutcome
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Content, Effect, Question, StepKind, Trust
from callboard.engine.run import Outcome, Run
from callboard.engine.scope import Finding, StepScope
from callboard.prompts import Layer, Turn
from callboard.studio.studio import Studio

T = TypeVar("T")

_CHOICE_TOKENS: Final = 60


class Stage:
    """A run with its staff and its tools, or one branch of it."""

    def __init__(
        self,
        studio: Studio,
        run: Run,
        holdups: Holdups | None = None,
        *,
        priority: int | None = None,
    ) -> None:
        """Set the stage for a run; its branches share what it asked about budgets.

        Without a `priority` each call has that of its agent's archetype.
        """
        self.studio = studio
        self.run = run
        self.priority = priority
        self._holdups = holdups or Holdups(studio.accounts, studio.settings)

    def at(self, priority: int) -> "Stage":
        """Return the same stage whose calls stand in the queue at a priority.

        `Priority.USER` is for what a human waits for: the user's own chat or single question.
        """
        return Stage(self.studio, self.run, self._holdups, priority=priority)

    def user(self, text: str) -> Content:
        """Mark a text as the user's own words, which may instruct."""
        return Content(text, "user", Trust.TRUSTED)

    async def ask(
        self,
        key: str,
        agent: str,
        /,
        *,
        prompt: str | None = None,
        schema: Mapping[str, Json] | None = None,
        slot: str | None = None,
        max_tokens: int | None = None,
        timeout_seconds: float | None = None,
        history: Sequence[Turn] = (),
        model: str | None = None,
        layers: Sequence[Layer] = (),
        **inputs: Input,
    ) -> Reply:
        """Ask an agent and return its reply; inputs fill the prompt's placeholders.

        `model` is asked in place of the agent's own. `layers` are shown beside the prompt.
        `history` is the conversation before this message, oldest first; what outgrows the model's
        window is selected, summed up or left out, as the prompt's record tells.
        """
        call = AgentCall(
            key=key,
            agent_id=agent,
            prompt=prompt or key.rpartition("/")[2],
            inputs=inputs,
            schema=schema,
            slot=slot or self.run.key(key),
            max_tokens=max_tokens,
            timeout_seconds=timeout_seconds,
            history=tuple(history),
            priority=self.priority,
            model=model,
            layers=tuple(layers),
        )
        return await ask_agent(self.studio, self.run, call, self._holdups)

    async def ask_call(self, call: AgentCall) -> Json:
        """Ask in a way `ask` does not offer, and return what the journal holds of it."""
        return await ask_step(self.studio, self.run, call, self._holdups)

    async def choose(
        self,
        key: str,
        agent: str,
        options: list[str],
        /,
        *,
        prompt: str | None = None,
        model: str | None = None,
        **inputs: Input,
    ) -> str:
        """Have an agent pick one of several options; nothing else can come back.

        `model` is asked in place of the agent's own.
        """
        if not options:
            raise InvalidInput(f"{key!r} offers no options to choose from")
        listed = Content("\n".join(f"- {option}" for option in options), "options", Trust.TRUSTED)
        call = AgentCall(
            key=key,
            agent_id=agent,
            prompt=prompt or key.rpartition("/")[2],
            inputs={**inputs, "options": listed},
            schema=schema_of(one_of(options)),
            slot=self.run.key(key),
            max_tokens=_CHOICE_TOKENS,
            priority=self.priority,
            model=model,
        )
        reply = await ask_agent(self.studio, self.run, call, self._holdups)
        return str(reply.data["choice"])

    async def tool(
        self,
        key: str,
        tool: str,
        /,
        *,
        agent: str | None = None,
        slot: str | None = None,
        **args: Json,
    ) -> ToolOutcome:
        """Use a tool, with an agent's permissions if one is named; its receipt is the proof."""
        use = ToolUse(key, tool, args, slot or self.run.key(key), agent)
        return await use_tool(self.studio, self.run, use)

    async def done_when(self, key: str, **checks: bool) -> ToolOutcome:
        """Check a definition of done; what is not met fails the run, and leaves a receipt."""
        outcome = await self.tool(key, "definition_of_done", checks=dict(checks))
        failed = [name for name, met in outcome.payload["checks"].items() if not met]
        if failed:
            names = ", ".join(name.replace("_", " ") for name in failed)
            raise NotDone(
                f"Not done: {names}",
                fix="Look at the slots of the run, edit one with `callboard runs fork`, or retry.",
                checks=failed,
                receipt_id=outcome.receipt_id,
            )
        return outcome

    async def step(
        self,
        key: str,
        function: Callable[..., Any],
        /,
        *args: Json,
        kind: StepKind = StepKind.WORK,
        effect: Effect = Effect.IDEMPOTENT,
        slot: str | None = None,
        probe: Callable[[Json], Awaitable[Finding]] | None = None,
    ) -> Json:
        """Journal a function of your own; its arguments are what its result depends on."""

        async def act(_scope: StepScope) -> Json:
            result = function(*args)
            return await result if inspect.isawaitable(result) else result

        return await self.run.step(
            key, act, inputs=list(args), kind=kind, effect=effect, slot=slot, probe=probe
        )

    async def ask_human(
        self, key: str, text: str, *, choices: tuple[str, ...] = (), default: str | None = None
    ) -> str:
        """Ask the human; the run waits as long as it takes."""
        return str(await self.run.ask_human(key, Question(text, choices, default)))

    async def parallel(
        self,
        branches: Mapping[str, Callable[["Stage"], Awaitable[T]]],
        *,
        limit: int | None = None,
    ) -> dict[str, T]:
        """Perform branches at once; the first failure stops the others."""
        return await self.run.parallel(self._staged(branches), limit=limit)

    async def collect(
        self,
        branches: Mapping[str, Callable[["Stage"], Awaitable[T]]],
        *,
        limit: int | None = None,
    ) -> dict[str, Outcome[T]]:
        """Perform branches at once; each ends for itself."""
        return await self.run.collect(self._staged(branches), limit=limit)

    async def sleep(self, key: str, seconds: float) -> None:
        """Wait for a time that also passes while nothing runs."""
        await self.run.sleep(key, seconds)

    async def emit(self, name: str, data: Json = None) -> None:
        """Say something in the event stream."""
        await self.run.emit(name, data)

    def _staged(
        self, branches: Mapping[str, Callable[["Stage"], Awaitable[T]]]
    ) -> dict[str, Callable[[Run], Awaitable[T]]]:
        def on_stage(perform: Callable[["Stage"], Awaitable[T]]) -> Callable[[Run], Awaitable[T]]:
            return lambda run: perform(
                Stage(self.studio, run, self._holdups, priority=self.priority)
            )

        return {name: on_stage(perform) for name, perform in branches.items()}
