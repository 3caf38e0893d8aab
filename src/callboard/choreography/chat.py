"""1:1 chat with an agent: each message is one durable run, the conversation is those runs.

What of the project a message names lies before the agent; it may look further while it answers, by
the same strict calls as in a conference. A small model only points at what was found, and where
nothing was, nothing is made up. What was said before is read from the journal.
"""

from collections.abc import Mapping
from typing import Final, cast

from callboard.choreography.agent_calls import (
    ByteLimits,
    Errand,
    ErrandPrompts,
    Gathered,
    ToolPolicy,
    check_policy,
    lay_out,
    read_flag,
    rights_of,
    run_errand,
)
from callboard.choreography.chat_exchanges import exchange_of, exchanges
from callboard.choreography.conversation import agent_turn, user_turn
from callboard.choreography.pages import (
    PAGES,
    PageFinder,
    PageWish,
    ProjectPage,
    find_pages,
    layers_of,
    lines_for,
)
from callboard.choreography.staffing import find_agent, is_constrained, tier_of
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.vocabulary import Agent, Content, Effect, ModelTier
from callboard.engine.run import Run
from callboard.models.traffic.priority import Priority
from callboard.prompts import Layer, Turn, render_template
from callboard.store.journal.runs import load_run
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_PLAIN: Final = "chat"
_WITH_FINDINGS: Final = "chat_findings"
_PROMPTS: Final = ErrandPrompts("chat_tools", "chat_tools_required", "chat_next", "chat_refused")
_PICK: Final = "chat_pick"
_NO_PAGES: Final = "chat_no_pages"
_NOT_KNOWN: Final = "chat_not_known"
_KINDS: Final = ("named", "found")
_OFFERED: Final = 5
_TITLE_CHARS: Final = 60
_PARAMETERS: Final = {
    "agent": "str, required: id or archetype",
    "message": "str, required",
    "skip_tools": "bool, default False",
    "allowed_tools": "list of tool ids, default: all that only look",
    "require_tool": "bool, default False",
}


class ChatToolRequired(CallboardError):
    """A tool was required and the agent did not call one."""

    code = "tool_required_not_called"


class Chat:
    """The choreography of one message in a chat."""

    summary = "Say something to one agent and get its answer; it remembers what was said before."

    def __init__(self, pack: str, pages: PageFinder | None = None) -> None:
        """Take the pack whose staff can be talked to, and what finds pages for a message."""
        self.pack = pack
        self._pages = pages

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check who is meant and what is allowed."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        message = str(raw.get("message") or "").strip()
        if unknown or not message or not raw.get("agent"):
            told = f"unknown: {', '.join(unknown)}" if unknown else "agent or message is missing"
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(f"There is nothing to say: {told}", fix=f"It takes: {takes}.")
        agent = find_agent(studio, str(raw["agent"]), self.pack)
        said = {name: raw[name] for name in ("allowed_tools", "require_tool") if name in raw}
        policy = ToolPolicy.from_json(said)
        check_policy(studio, policy)
        args: dict[str, Json] = {
            "agent": agent.id,
            "message": message,
            "skip_tools": bool(read_flag(raw.get("skip_tools", False))),
            "tool_policy": policy.to_json(),
        }
        return Prepared(args, title=f"{agent.id}: {message}"[:_TITLE_CHARS])

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Answer one message."""
        agent = find_agent(studio, str(run.args["agent"]), self.pack)
        # A human waits for this and nothing else.
        stage = Stage(studio, run).at(Priority.USER)
        return await _Answering(stage, agent, self._pages).answer()


class _Answering:
    """An answer while it is made."""

    def __init__(self, stage: Stage, agent: Agent, finder: PageFinder | None) -> None:
        self.stage = stage
        self.agent = agent
        self.finder = finder
        self.tier = tier_of(stage.studio, agent)
        self.message = stage.user(str(stage.run.args["message"]))
        self.settings = stage.studio.settings.chat

    async def answer(self) -> Json:
        history = await self.history()
        pages = await self.read()
        if self.finder is not None and is_constrained(self.stage.studio, self.agent):
            return await self.point_at(pages)
        layers = self.layers(pages)
        gathered = await self.look_up(history, layers)
        receipts: list[Json] = [each.receipt_id for each in gathered.findings if each.receipt_id]
        if gathered.answer is not None:
            return self.result(gathered.answer, receipts)
        has_findings = bool(gathered.findings)
        results = lay_out(gathered.findings) if has_findings else Content("", "tools")
        reply = await self.stage.ask(
            "answer",
            self.agent.id,
            prompt=_WITH_FINDINGS if has_findings else _PLAIN,
            timeout_seconds=self.settings.agent_timeout_seconds,
            history=history,
            layers=layers,
            message=self.message,
            results=results,
        )
        return self.result(reply.text, receipts)

    async def read(self) -> tuple[ProjectPage, ...]:
        """Find what of the project the message is about."""
        if self.finder is None:
            return ()
        wish = PageWish(self.message.text, _KINDS)
        # A small model is shown a few lines of what code has found, so code may look at more.
        is_small = is_constrained(self.stage.studio, self.agent)
        tier = ModelTier.FULL if is_small else self.tier
        limit = self.stage.studio.settings.pipeline.page_tokens.limit_tokens(tier)
        return await find_pages(self.stage, PAGES, self.finder, wish, limit)

    def layers(self, pages: tuple[ProjectPage, ...]) -> tuple[Layer, ...]:
        """Return what lies before the agent; that nothing was found is told as well."""
        if self.finder is None or pages:
            return layers_of(pages)
        prompts = self.stage.studio.prompts(pack_of(self.stage.run))
        return (Layer(PAGES, render_template(prompts.get(_NO_PAGES, None), {})),)

    async def point_at(self, pages: tuple[ProjectPage, ...]) -> Json:
        """Have a small model pick the line that answers; where none can, say so."""
        offered = lines_for(self.message.text, pages, _OFFERED)
        if not offered:
            prompts = self.stage.studio.prompts(pack_of(self.stage.run))
            said = render_template(prompts.get(_NOT_KNOWN, None), {}).text.strip()
            return self.result(said, [])
        line = next(iter(offered))
        if len(offered) > 1:
            line = await self.stage.choose(
                "answer", self.agent.id, list(offered), prompt=_PICK, message=self.message
            )
        return self.result(f"“{line}” ({offered[line]})", [])

    def result(self, text: str, receipts: list[Json]) -> Json:
        return {"agent_id": self.agent.id, "text": text, "receipt_ids": receipts}

    async def look_up(self, history: tuple[Turn, ...], layers: tuple[Layer, ...]) -> Gathered:
        """Let the agent use tools first, unless it may not or is too small for that."""
        stage, policy = self.stage, ToolPolicy.from_json(self.stage.run.args["tool_policy"])
        rights = rights_of(stage.studio, self.agent, policy)
        is_minimal = self.tier is ModelTier.MINIMAL
        if stage.run.args["skip_tools"] or is_minimal or not rights.role_tools:
            return Gathered()
        gathered = await run_errand(
            stage,
            Errand(
                agent=self.agent,
                message=self.message,
                rights=rights,
                prompts=_PROMPTS,
                limits=ByteLimits(
                    self.settings.max_tool_bytes_per_step, self.settings.max_tool_bytes_per_message
                ),
                max_steps=self.settings.max_tool_steps,
                timeout_seconds=self.settings.agent_timeout_seconds,
                is_required=policy.require_tool,
                may_answer=True,
                history=history,
                layers=layers,
            ),
            "look",
        )
        if policy.require_tool and not gathered.findings:
            raise ChatToolRequired(
                f"Agent {self.agent.id} was to call a tool and did not",
                fix="Ask again, or do not require a tool.",
            )
        return gathered

    async def history(self) -> tuple[Turn, ...]:
        """Return what was said before this message, oldest first."""
        studio, run = self.stage.studio, self.stage.run
        most = self.settings.max_exchanges

        def before() -> Json:
            found = studio.database.read(
                lambda connection: exchanges(
                    connection,
                    pack_of(run),
                    run.session_id,
                    self.agent.id,
                    before=run.id,
                    most=most,
                )
            )
            return [each.run_id for each in found]

        # Journaled: what is said by other doors meanwhile comes after this message.
        chosen = cast("list[str]", await self.stage.step("history", before, effect=Effect.PURE))
        said = studio.database.read(
            lambda connection: [
                exchange_of(connection, load_run(connection, one)) for one in chosen
            ]
        )
        turns: list[Turn] = []
        for each in said:
            turns += [user_turn(each.message), agent_turn(each.agent_id, each.answer)]
        return tuple(turns)
