"""A conversation as an agent is shown it: what fits of it, the rest selected or summed up.

It decides nothing by itself: `prompts.fitting` does, and every decision stands in the prompt's
record. It keeps no conversation; whoever has one passes it with each call.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.canonical import Json, digest
from callboard.core.settings.sections import ContextSettings
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.prompts import (
    AssembledPrompt,
    Fitter,
    History,
    Layer,
    PromptRequest,
    Turn,
    render_template,
)
from callboard.studio.studio import Studio

SUMMARY_PROMPT: Final = "conversation_summary"
_WORDS_PER_TOKEN: Final = 0.7

AskSummary = Callable[[AssembledPrompt, str, int], Awaitable[str]]
"""Sends a prompt of a kind, for at most so many tokens of reply, and returns what was said."""


def user_turn(text: str) -> Turn:
    """Return what the user said, in the user's own words."""
    return Turn(Content(text, "user", Trust.TRUSTED), "user")


def agent_turn(agent_id: str, text: str) -> Turn:
    """Return what an agent said before."""
    return Turn(Content(text, f"agent:{agent_id}", Trust.UNTRUSTED), "assistant")


def history_digest(turns: Sequence[Turn]) -> Json:
    """Return what a step's result depends on of a conversation."""
    return digest([[turn.role, turn.content.text] for turn in turns])


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is shown the conversation: a model with its window, and what its reply may take."""

    model: str
    tier: ModelTier
    window_tokens: int
    reply_tokens: int


async def with_history(
    studio: Studio,
    request: PromptRequest,
    turns: tuple[Turn, ...],
    listener: Listener,
    ask_summary: AskSummary,
) -> PromptRequest:
    """Return the request with as much of a conversation as the listener's window holds."""
    settings = studio.settings.context
    summary = _Summary(studio, listener, ask_summary)
    summarise = summary.make if settings.summarise else None
    fitter = Fitter(studio.counter, studio.layout, settings, summarise=summarise)
    limit = _limit(settings, listener)
    whole = replace(request, history=History(turns), limit_tokens=limit)
    # What else is in the prompt may use the reserve, as far as the reply leaves it.
    return replace(
        await fitter.fit_request(studio.assembler, whole), limit_tokens=request.limit_tokens
    )


def _limit(settings: ContextSettings, listener: Listener) -> int:
    """Return the window without the reserve, which takes at most half of a small window."""
    window = listener.window_tokens
    reserve = max(listener.reply_tokens, min(settings.reserve_tokens, window // 2))
    return max(0, window - reserve)


class _Summary:
    """Has the listener itself sum up what it will not be shown."""

    def __init__(self, studio: Studio, listener: Listener, ask: AskSummary) -> None:
        self._studio = studio
        self._listener = listener
        self._ask = ask

    async def make(self, turns: tuple[Turn, ...], max_tokens: int) -> str:
        listener = self._listener
        template = self._studio.prompts().get(SUMMARY_PROMPT, listener.tier)
        words = Content(str(int(max_tokens * _WORDS_PER_TOKEN)), "callboard", Trust.TRUSTED)
        said = "\n\n".join(f"{turn.role}: {turn.content.text}" for turn in turns)
        request = PromptRequest(
            # May be cut at its end: a summary of the beginning is better than none.
            layers=(Layer("conversation", Content(said, "conversation"), may_cut=True),),
            message=render_template(template, {"words": words}),
            limit_tokens=max(0, listener.window_tokens - max_tokens),
            model_id=listener.model,
            tier=listener.tier,
        )
        return await self._ask(self._studio.assembler.assemble(request), SUMMARY_PROMPT, max_tokens)
