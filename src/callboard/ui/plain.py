"""Plain elements: whatever text is handed in is shown as text, never read as markup or options."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

Handler = Callable[[], Any]


def words(tag: str, text: str = "", classes: str = "", **attributes: str) -> ui.label:
    """Return an element that holds some text; attributes are set one by one, never parsed."""
    element = ui.label(text)
    element.tag = tag
    return dress(element, classes, attributes)


def box(tag: str = "div", classes: str = "", **attributes: str) -> ui.element:
    """Return an element that holds others."""
    return dress(ui.element(tag), classes, attributes)


def press(text: str, on_click: Handler | None, classes: str = "", **attributes: str) -> ui.label:
    """Return a button."""
    element = words("button", text, f"press {classes}", type="button", **attributes)
    if on_click is not None:
        element.on("click", lambda _event: on_click())
    return element


def dress(element: Any, classes: str, attributes: dict[str, str]) -> Any:
    """Give an element its classes and attributes; `aria_label` is written as `aria-label`."""
    if classes:
        element.classes(classes)
    for name, value in attributes.items():
        element.props[name.rstrip("_").replace("_", "-")] = value
    return element


def mark(element: ui.element, name: str, value: str | None) -> None:
    """Set one attribute of an element, or take it away."""
    if value is None:
        element.props.pop(name, None)
    else:
        element.props[name] = value
