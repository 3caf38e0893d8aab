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
from callboard.prompts.fitting import Archive, Fitter, Summarise
from callboard.prompts.layer_files import TemplateLayer
from callboard.prompts.layers import (
    FittingNote,
    FittingOutcome,
    History,
    Layer,
    LayerLine,
    Layout,
    MessagePlace,
    PromptMessage,
    PromptRequest,
    Reduction,
    TrimOrder,
    Turn,
    flatten,
    load_layout,
)
from callboard.prompts.markup import build_state, fence, state_content
from callboard.prompts.passages import Placeholder, TemplatePassage
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
from callboard.prompts.registry import TemplateEntry, TemplateRegistry, bundled_layer
from callboard.prompts.reminders import ReminderFacts, choose_reminders, reminders
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
from callboard.prompts.templates import Template, TemplateOrigin, TemplatePart
from callboard.prompts.tokens import OfflineTokenCounter, TierBudget, TokenCounter, load_budgets
from callboard.prompts.variants import TemplateVariant, Tier, variant_for

__all__ = [
    "RESERVED_NAMES",
    "Archive",
    "AssembledPrompt",
    "Assembler",
    "AssemblyInvalid",
    "Fitter",
    "FittingNote",
    "FittingOutcome",
    "History",
    "Layer",
    "LayerLine",
    "Layout",
    "MessagePlace",
    "OfflineTokenCounter",
    "Placeholder",
    "PlaceholderProblem",
    "PromptMessage",
    "PromptRecord",
    "PromptRequest",
    "PromptSummary",
    "PromptTooLarge",
    "Reduction",
    "ReminderFacts",
    "ReplyRecord",
    "ResponseMirror",
    "StateInvalid",
    "Summarise",
    "Template",
    "TemplateEntry",
    "TemplateInvalid",
    "TemplateLayer",
    "TemplateNotFound",
    "TemplateOrigin",
    "TemplatePart",
    "TemplatePassage",
    "TemplateRegistry",
    "TemplateVariant",
    "Tier",
    "TierBudget",
    "TokenCounter",
    "TrimOrder",
    "Turn",
    "UnknownPlaceholder",
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
