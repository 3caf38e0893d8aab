"""Prompts: templates in layers, assembly with a bill of materials, and the record of each call."""

from callboard.prompts.assembly import AssembledPrompt, Assembler
from callboard.prompts.errors import (
    AssemblyInvalid,
    PromptTooLarge,
    StateInvalid,
    TemplateInvalid,
    TemplateNotFound,
    UnknownPlaceholder,
)
from callboard.prompts.fitting import Archive, Fitter, FittingPolicy, Summarise
from callboard.prompts.layer_files import TemplateLayer
from callboard.prompts.layers import (
    FittingNote,
    History,
    Layer,
    LayerLine,
    Layout,
    Message,
    Order,
    Outcome,
    Place,
    PromptRequest,
    Reduction,
    Turn,
    flatten,
    load_layout,
)
from callboard.prompts.markup import build_state, fence, state_content
from callboard.prompts.passages import Passage, Placeholder
from callboard.prompts.records import (
    PromptRecord,
    PromptSummary,
    ReplyRecord,
    list_prompts,
    load_prompt,
    record_prompt,
    save_prompt,
    save_reply,
)
from callboard.prompts.registry import Registry, TemplateEntry, bundled_layer
from callboard.prompts.reminders import ModelFacts, choose_reminders, reminders
from callboard.prompts.rendering import (
    RESERVED_NAMES,
    PlaceholderProblem,
    check_placeholders,
    headed_inputs,
    render,
    render_template,
    slot_content,
)
from callboard.prompts.responses import ResponseMirror
from callboard.prompts.templates import Origin, Part, Template
from callboard.prompts.tokens import OfflineTokenCounter, TierBudget, TokenCounter, load_budgets
from callboard.prompts.variants import Tier, Variant, variant_for

__all__ = [
    "RESERVED_NAMES",
    "Archive",
    "AssembledPrompt",
    "Assembler",
    "AssemblyInvalid",
    "Fitter",
    "FittingNote",
    "FittingPolicy",
    "History",
    "Layer",
    "LayerLine",
    "Layout",
    "Message",
    "ModelFacts",
    "OfflineTokenCounter",
    "Order",
    "Origin",
    "Outcome",
    "Part",
    "Passage",
    "Place",
    "Placeholder",
    "PlaceholderProblem",
    "PromptRecord",
    "PromptRequest",
    "PromptSummary",
    "PromptTooLarge",
    "Reduction",
    "Registry",
    "ReplyRecord",
    "ResponseMirror",
    "StateInvalid",
    "Summarise",
    "Template",
    "TemplateEntry",
    "TemplateInvalid",
    "TemplateLayer",
    "TemplateNotFound",
    "Tier",
    "TierBudget",
    "TokenCounter",
    "Turn",
    "UnknownPlaceholder",
    "Variant",
    "build_state",
    "bundled_layer",
    "check_placeholders",
    "choose_reminders",
    "fence",
    "flatten",
    "headed_inputs",
    "list_prompts",
    "load_budgets",
    "load_layout",
    "load_prompt",
    "record_prompt",
    "reminders",
    "render",
    "render_template",
    "save_prompt",
    "save_reply",
    "slot_content",
    "state_content",
    "variant_for",
]
