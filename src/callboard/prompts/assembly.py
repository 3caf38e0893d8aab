"""Assemble layers, conversation and message into one prompt with its bill of materials.

The message is never trimmed and pinned layers are never dropped. If what remains does not fit,
nothing is sent: the error names every size.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.vocabulary import ModelTier
from callboard.prompts.draft import HistoryDraft, LayerDraft
from callboard.prompts.errors import AssemblyInvalid, PromptTooLarge
from callboard.prompts.layers import (
    HISTORY,
    MESSAGE,
    FittingOutcome,
    History,
    Layer,
    LayerLine,
    Layout,
    MessagePlace,
    PromptMessage,
    PromptRequest,
    TrimOrder,
    flatten,
)
from callboard.prompts.markup import fence
from callboard.prompts.tokens import TokenCounter

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AssembledPrompt:
    """A prompt ready to send, and what it is made of.

    `total_tokens` is the sum of all pieces, each counted by itself, with separators and headings;
    `stable_tokens` of it stand at the front and do not change from call to call.
    """

    messages: tuple[PromptMessage, ...]
    bill: tuple[LayerLine, ...]
    total_tokens: int
    stable_tokens: int
    limit_tokens: int | None
    layout: Layout
    model_id: str = ""
    tier: ModelTier | None = None

    @property
    def text(self) -> str:
        """The same prompt as one flat text."""
        return flatten(self.messages, self.layout)


class Assembler:
    """Turns requests into prompts; holds no state but its counter and layout."""

    def __init__(
        self, counter: TokenCounter, layout: Layout, hide: Callable[[str], str] | None = None
    ) -> None:
        """Take the way to count, the way to lay out, and what must not be said."""
        self._counter = counter
        self._layout = layout
        self._hide = hide

    def assemble(self, request: PromptRequest) -> AssembledPrompt:
        """Return the prompt, trimmed to its limits in the order the caller gave."""
        order = _trim_order(request)
        draft = _PromptDraft(request, self._counter, self._layout)
        limit = request.limit_tokens
        if limit is not None:
            for step in order:
                if draft.total <= limit:
                    break
                draft.trim(step, limit)
            if draft.total > limit:
                raise _too_large(draft, limit)
        prompt = draft.finish()
        if self._hide is not None:
            prompt = _discreet(prompt, self._hide)
        _log.debug(
            "assembled prompt: model=%s tier=%s tokens=%d chars=%d",
            request.model_id,
            request.tier,
            prompt.total_tokens,
            sum(len(part) for message in prompt.messages for part in message.parts),
        )
        return prompt

    def history_room(self, request: PromptRequest) -> int | None:
        """Return what a limit leaves for the conversation beside all that must be said."""
        if request.limit_tokens is None:
            return None
        draft = _PromptDraft(replace(request, history=History()), self._counter, self._layout)
        return max(0, request.limit_tokens - draft.total - draft.history_overhead)


def _discreet(prompt: AssembledPrompt, hide: Callable[[str], str]) -> AssembledPrompt:
    """Return a prompt as it may be stored and sent."""
    messages = tuple(
        replace(each, parts=tuple(hide(part) for part in each.parts)) for each in prompt.messages
    )
    bill = tuple(replace(line, text=hide(line.text)) for line in prompt.bill)
    return replace(prompt, messages=messages, bill=bill)


class _PromptDraft:
    def __init__(self, request: PromptRequest, counter: TokenCounter, layout: Layout) -> None:
        self.request = request
        self._layout = layout
        self.layers = [LayerDraft(layer, counter) for layer in _laid_out(request)]
        for layer in self.layers:
            layer.fit_budget(layout.cut_mark)
        self.by_name = {draft.layer.name: draft for draft in self.layers}
        self.history = HistoryDraft(request.history, counter)
        self.message = fence(request.message)
        self.message_tokens = counter.count(self.message)
        self._separator_tokens = counter.count(layout.separator)
        self.history_overhead = counter.count(layout.history_heading) + self._separator_tokens
        self._message_heading_tokens = counter.count(
            f"{layout.message_heading}\n\n{layout.user_label}: "
        )

    @property
    def total(self) -> int:
        sections = sum(1 for draft in self.layers if draft.text)
        tokens = sum(draft.tokens for draft in self.layers) + self.history.tokens
        if not self.history.is_empty:
            tokens += self.history_overhead
        tokens += self.message_tokens + self._message_heading_tokens
        return tokens + sections * self._separator_tokens

    def trim(self, step: str, limit: int) -> None:
        reason = f"the prompt was over {limit} tokens"
        if step == HISTORY:
            while self.total > limit and not self.history.is_empty:
                self.history.drop_oldest(reason)
            return
        name, _, reduction = step.partition("/")
        draft = self.by_name[name]
        while self.total > limit and draft.next_reduction is not None:
            if reduction and draft.next_reduction != reduction:
                return
            draft.reduce(reason)
        if self.total <= limit or reduction or draft.layer.pinned or not draft.text:
            return
        excess = self.total - limit
        if draft.layer.may_cut and draft.tokens > excess:
            draft.cut(draft.tokens - excess, self._layout.cut_mark, reason)
        else:
            draft.drop(reason)

    def finish(self) -> AssembledPrompt:
        parts: list[str] = []
        for draft in self.layers:
            if draft.text:
                parts.extend((self._layout.separator, draft.text) if parts else (draft.text,))
        system = (PromptMessage("system", tuple(parts), MessagePlace.SYSTEM),) if parts else ()
        current = PromptMessage("user", (self.message,), MessagePlace.CURRENT)
        return AssembledPrompt(
            messages=(*system, *self.history.messages(), current),
            bill=self.bill(),
            total_tokens=self.total,
            stable_tokens=self._stable_tokens(),
            limit_tokens=self.request.limit_tokens,
            layout=self._layout,
            model_id=self.request.model_id,
            tier=self.request.tier,
        )

    def bill(self) -> tuple[LayerLine, ...]:
        message = LayerLine(
            name=MESSAGE,
            origin=self.request.message.origin,
            trust=self.request.message.trust,
            tokens=self.message_tokens,
            original_tokens=self.message_tokens,
            budget_tokens=self.request.message_budget_tokens,
            outcome=FittingOutcome.KEPT if self.message else FittingOutcome.EMPTY,
            pinned=True,
            text=self.message,
        )
        return (*(draft.line() for draft in self.layers), *self.history.lines(), message)

    def _stable_tokens(self) -> int:
        tokens = 0
        for draft in self.layers:
            if draft.text and not draft.layer.stable:
                break
            tokens += draft.tokens
        return tokens


def _laid_out(request: PromptRequest) -> Sequence[Layer]:
    if request.order is TrimOrder.AS_GIVEN:
        return request.layers
    return sorted(request.layers, key=lambda layer: not layer.stable)


def _trim_order(request: PromptRequest) -> tuple[str, ...]:
    layers = {layer.name: layer for layer in request.layers}
    if len(layers) < len(request.layers) or layers.keys() & {HISTORY, MESSAGE}:
        raise AssemblyInvalid(
            f"Layer names must differ and not be '{HISTORY}' or '{MESSAGE}': "
            f"{', '.join(layer.name for layer in request.layers)}."
        )
    if request.trim_order is None:
        free = [name for name, layer in layers.items() if not layer.pinned and not layer.stable]
        return (HISTORY, *reversed(free))
    for step in request.trim_order:
        name, _, _ = step.partition("/")
        if step != HISTORY and name not in layers:
            raise AssemblyInvalid(
                f"The trimming order names {step!r}, but there is no such layer.",
                fix=f"Layers: {', '.join(layers)}; or '{HISTORY}'.",
                step=step,
            )
    for layer in request.layers:
        _check_reduction_order(layer, request.trim_order)
    return request.trim_order


def _check_reduction_order(layer: Layer, steps: Sequence[str]) -> None:
    prefix = f"{layer.name}/"
    wanted = [step.removeprefix(prefix) for step in steps if step.startswith(prefix)]
    authored = list(dict.fromkeys(reduction.name for reduction in layer.reductions))
    if wanted != authored[: len(wanted)]:
        raise AssemblyInvalid(
            f"The trimming order asks layer {layer.name!r} for {wanted}, "
            f"but its shorter forms are {authored}, in that order.",
            layer=layer.name,
        )


def _too_large(draft: _PromptDraft, limit: int) -> PromptTooLarge:
    sizes = {line.name: line.tokens for line in draft.bill() if line.tokens}
    shown = ", ".join(f"{name} {tokens}" for name, tokens in sizes.items())
    return PromptTooLarge(
        f"The prompt needs {draft.total} tokens and may have {limit}; what is left: {shown}.",
        fix="Shorten the message or a pinned layer, or use a model with a larger window.",
        total_tokens=draft.total,
        limit_tokens=limit,
        sizes=sizes,
    )
