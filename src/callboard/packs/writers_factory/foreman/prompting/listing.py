"""The list of permitted actions as a mode file shows it, in three lengths."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.packs.writers_factory.foreman.actions import ActionSpec, Catalogue
from callboard.prompts import build_state


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
