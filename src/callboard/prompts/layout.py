"""How layers and messages are laid out as text, read from a data file beside the templates."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from callboard.core.parsing import load_yaml
from callboard.prompts.errors import AssemblyInvalid
from callboard.prompts.layers import Message, Place

_FILE: Final = Path(__file__).parent / "bundled" / "layout.yaml"
_ROLE_LINE: Final = re.compile(r"^(?=[A-Za-z_]{1,20}:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Separators and headings of a flat prompt, and the mark that shows where text was cut."""

    separator: str
    history_heading: str
    message_heading: str
    user_label: str
    cut_mark: str

    def to_json(self) -> dict[str, str]:
        """Return the stored shape."""
        return asdict(self)


def load_layout(path: Path = _FILE) -> Layout:
    """Read a layout file; every field must be there and nothing else."""
    values: Any = load_yaml(path.read_text(encoding="utf-8"))
    try:
        return Layout(**values)
    except TypeError as error:
        raise AssemblyInvalid(f"{path.name}: {error}", path=str(path)) from error


def turn_line(role: str, content: str) -> str:
    """Return one entry of a flat conversation; inner lines cannot pose as another role's."""
    first, newline, rest = content.partition("\n")
    if newline:
        rest = _ROLE_LINE.sub("  ", rest)
    return f"{role.upper()}: {first}{newline}{rest}"


def flatten(messages: Sequence[Message], layout: Layout) -> str:
    """Return the one text of a prompt, for models that take no list of messages."""
    sections = [m.content for m in messages if m.place is Place.SYSTEM and m.content]
    turns = [turn_line(m.role, m.content) for m in messages if m.place is Place.HISTORY]
    if turns:
        sections.append("\n\n".join([layout.history_heading, *turns]))
    for message in messages:
        if message.place is Place.CURRENT:
            line = f"{layout.user_label}: {message.content}"
            sections.append(f"{layout.message_heading}\n\n{line}")
    return layout.separator.join(sections)
