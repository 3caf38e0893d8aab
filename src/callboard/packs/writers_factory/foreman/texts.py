"""The fixed layers of the Foreman's prompt, read from Markdown for a tier.

A project or user may replace any file. One that is missing leaves its layer empty; the rules of a
mode and the protocols fall back to what comes with the pack, because a reply cannot be read
without them. Everything that went wrong is told by `problems`.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.packs.writers_factory.foreman.actions import ActionSpec, Catalogue
from callboard.packs.writers_factory.model import DIRECTOR, EDITOR
from callboard.prompts import (
    Template,
    TemplateInvalid,
    TemplateLayer,
    TemplateNotFound,
    TemplateRegistry,
    UnknownPlaceholder,
    build_state,
    bundled_layer,
    render_template,
)


def list_actions(catalogue: Catalogue, mode: str, tier: ModelTier) -> Content:
    """Return what may be asked for in a mode, for a reader of a tier."""
    specs = catalogue.permitted(mode)
    if tier is ModelTier.FULL:
        text = _whole(specs)
    elif tier is ModelTier.MEDIUM:
        text = "\n".join(f"- {_call(spec, spec.optional)}" for spec in specs)
    else:
        text = "\n".join(_call(spec, ()) for spec in specs)
    return Content(text, "actions", Trust.TRUSTED)


def _call(spec: ActionSpec, optional: Sequence[str]) -> str:
    names = [*spec.required, *(f"{name}?" for name in optional)]
    return f"{spec.name}({', '.join(names)})"


def _whole(specs: Sequence[ActionSpec]) -> str:
    rows: list[dict[str, Any]] = []
    for spec in specs:
        rows.append(
            {
                "@type": spec.name,
                "@required": ", ".join(spec.required) or None,
                "@optional": ", ".join(spec.optional) or None,
                "#text": spec.description,
            }
        )
    listed = build_state("actions", {"action": rows}).replace("\n  ", "\n")
    examples = [spec for spec in specs if spec.example is not None]
    # The action that belongs to the mode shows its shape better than one that is always there.
    own = [spec for spec in examples if spec.modes is not None] or examples
    return f"{listed}\nExample: {_example(own[0])}" if own else listed


def _example(spec: ActionSpec) -> str:
    element = ElementTree.fromstring(build_state("action", spec.example or {}))  # noqa: S314
    element.set("type", spec.name)
    for each in element.iter():
        each.tail = None
        each.text = each.text if (each.text or "").strip() else None
    return ElementTree.tostring(element, encoding="unicode")


IDENTITY: Final = "identity"
PROCESS_MAP: Final = "process_map"
PROTOCOLS: Final = "protocols"
GUARDRAILS: Final = ("guardrails/voice_antipatterns", "guardrails/continuity_rules")
_FALLBACK_MODE: Final = "modes/fallback"
_ACTIONS: Final = "available_actions"
_GUARDED: Final = (DIRECTOR, EDITOR)
_REPLACED: Final = "prompt %s cannot be used, the pack's own is: %s"

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class PromptTexts:
    """The authored texts, as a project sees them."""

    registry: TemplateRegistry
    packaged: TemplateRegistry
    catalogue: Catalogue
    # (mode, tier) -> the template it was made of, and the rules with their list of actions
    _rules: dict[tuple[str, ModelTier], tuple[Template, Content]] = field(
        default_factory=dict[tuple[str, ModelTier], tuple[Template, Content]], repr=False
    )

    @classmethod
    def open(cls, registry: TemplateRegistry, bundled: Path, catalogue: Catalogue) -> "PromptTexts":
        """Take the templates in force, and the pack's own folder to fall back to."""
        packaged = TemplateRegistry((bundled_layer(), TemplateLayer("pack", bundled)))
        return cls(registry, packaged, catalogue)

    def identity(self, tier: ModelTier) -> Content:
        """Return who the Foreman is."""
        return self._optional(IDENTITY, tier)

    def process_map(self, tier: ModelTier) -> Content:
        """Return the way of a book."""
        return self._optional(PROCESS_MAP, tier)

    def protocols(self, tier: ModelTier) -> Content:
        """Return the shape of a reply."""
        return self._filled(PROTOCOLS, tier, self._needed(PROTOCOLS, tier), {})

    def mode_rules(self, mode: str, tier: ModelTier, file: str = "") -> Content:
        """Return the rules of a mode with the actions it permits."""
        name = file or mode_file(mode)
        template = self._needed(name, tier)
        known = self._rules.get((mode, tier))
        if known is not None and known[0] is template:
            return known[1]
        listed = list_actions(self.catalogue, mode, tier)
        rules = self._filled(name, tier, template, {_ACTIONS: listed})
        self._rules[mode, tier] = (template, rules)
        return rules

    def guardrails(self, mode: str, tier: ModelTier) -> Content:
        """Return what prose may not do, in the modes that have prose."""
        if mode not in _GUARDED or tier is ModelTier.MINIMAL:
            return Content("", "guardrails", Trust.TRUSTED)
        parts = [self._optional(name, tier).text for name in GUARDRAILS]
        return Content("\n\n".join(part for part in parts if part), "guardrails", Trust.TRUSTED)

    def problems(self, rules: Sequence[str]) -> tuple[str, ...]:
        """Return what is wrong with the files, for whoever starts or checks a project."""
        return tuple(self._problems(rules))

    def _problems(self, rules: Sequence[str]) -> Iterator[str]:
        for name in dict.fromkeys((IDENTITY, PROCESS_MAP, PROTOCOLS, *rules)):
            for tier in ModelTier:
                try:
                    template = self.registry.get(name, tier)
                except (TemplateInvalid, TemplateNotFound) as error:
                    yield f"prompts/{name}.md cannot be used: {error.message}"
                    break
                if template.body.is_empty:
                    yield f"prompts/{name}.md is empty"
                    break
                lists = {each.name for each in template.placeholders}
                if unknown := sorted(lists - ({_ACTIONS} if name in rules else set())):
                    yield f"prompts/{name}.md says {{{{{unknown[0]}}}}}, which nobody fills"
                    break
                if name in rules and _ACTIONS not in lists:
                    yield f"prompts/{name}.md does not say {{{{{_ACTIONS}}}}} for {tier.value}"
                    break

    def _optional(self, name: str, tier: ModelTier) -> Content:
        try:
            return _plain(self.registry.get(name, tier))
        except (TemplateInvalid, TemplateNotFound, UnknownPlaceholder) as error:
            _log.warning("prompt layer %s is empty: %s", name, error.message)
            return Content("", name, Trust.TRUSTED)

    def _needed(self, name: str, tier: ModelTier) -> Template:
        try:
            template = self.registry.get(name, tier)
            if not template.body.is_empty:
                return template
        except (TemplateInvalid, TemplateNotFound) as error:
            _log.error(_REPLACED, name, error.message)
        return self._packaged(name, tier)

    def _filled(
        self, name: str, tier: ModelTier, template: Template, values: dict[str, Content]
    ) -> Content:
        try:
            return render_template(template, values)
        except UnknownPlaceholder as error:
            _log.error(_REPLACED, name, error.message)
            return render_template(self._packaged(name, tier), values)

    def _packaged(self, name: str, tier: ModelTier) -> Template:
        try:
            return self.packaged.get(name, tier)
        except TemplateNotFound:
            return self.packaged.get(_FALLBACK_MODE, tier)


def mode_file(mode: str) -> str:
    """Return the name of the template that holds a mode's rules."""
    return f"modes/{mode.lower()}"


def _plain(template: Template) -> Content:
    return render_template(template, {})
