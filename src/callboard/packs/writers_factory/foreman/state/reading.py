"""Reads a work order back from state markup, in either of its two shapes.

For whoever is handed a state as text: fields as attributes, or as child elements.
"""

from xml.etree import ElementTree

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.foreman.state.session import TemplateLine


def read_templates(markup: str) -> tuple[TemplateLine, ...]:
    """Return the templates a state names."""
    try:
        root = ElementTree.fromstring(markup)  # noqa: S314 - our own markup, no entities in it
    except ElementTree.ParseError as error:
        raise InvalidInput(f"This is no session state: {error}") from error
    return tuple(_template(each) for each in root.iterfind(".//work_order/template"))


def _template(element: ElementTree.Element) -> TemplateLine:
    def names(key: str) -> tuple[str, ...]:
        text = element.get(key) or element.findtext(key) or ""
        return tuple(part.strip() for part in text.split(",") if part.strip())

    return TemplateLine(
        name=(element.get("name") or "").strip().lower().replace(" ", "_"),
        status=element.get("status") or element.findtext("status") or "",
        completed=names("completed"),
        missing=names("missing"),
    )
