"""How much of the state each tier is shown, and which sections each mode has.

Sections come from the mode, as `modes.yaml` declares them; numbers come from the tier. Project,
active context, knowledge, notebooks, memory and overrides are there in every mode.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from xml.sax.saxutils import escape

from callboard.core.vocabulary import ModelTier
from callboard.packs.writers_factory.foreman.state.session import ForemanState
from callboard.prompts import TokenCounter

_MARK: Final = "…"
# No token is longer than this in practice, so a longer text is surely over its limit.
_CHARS_PER_TOKEN: Final = 12
_MOST_NAMES: Final = 6


@dataclass(frozen=True, slots=True)
class Clipper:
    """Cuts values to a number of tokens; what fits is left as it is."""

    counter: TokenCounter

    def cost(self, text: str) -> int:
        """Return what a value costs once it is escaped."""
        return self.counter.count(escape(text))

    def clip(self, text: str, max_tokens: int) -> str:
        """Return a value on one line, cut at its end if it is too long."""
        return self._fit(" ".join(text.split()), max_tokens)

    def excerpt(self, text: str, max_chars: int, max_tokens: int) -> str:
        """Return the beginning of a text with its line breaks."""
        return self._fit(text[:max_chars], max_tokens)

    def _fit(self, text: str, max_tokens: int) -> str:
        short = text[: max_tokens * _CHARS_PER_TOKEN]
        if len(short) == len(text) and self.cost(text) <= max_tokens:
            return text
        low, high = 0, len(short)
        while low < high:
            middle = (low + high + 1) // 2
            if self.cost(f"{short[:middle]}{_MARK}") <= max_tokens:
                low = middle
            else:
                high = middle - 1
        return f"{short[:low].rstrip()}{_MARK}"


def some_of(names: Iterable[str]) -> str | None:
    """Return a list of names on one line, the first of them if they are many."""
    listed = list(names)
    if not listed:
        return None
    if len(listed) <= _MOST_NAMES:
        return ", ".join(listed)
    rest = len(listed) - _MOST_NAMES + 1
    return f"{', '.join(listed[: _MOST_NAMES - 1])} and {rest} more"


class StateSection(StrEnum):
    """A part of the state that a mode has or has not."""

    WORK_ORDER = "work_order"
    WORK_SUMMARY = "work_summary"
    VOICE = "voice_context"
    BUNDLE = "voice_bundle"
    SCENE = "scene_context"
    ALERTS = "health_alerts"
    OUTLINE = "outline"


def sections_of(state: ForemanState) -> frozenset[StateSection]:
    """Return what the state's mode is shown, of what not every mode is shown."""
    named = set(state.sections)
    # A scaffold takes the place of the scene's own context.
    if "active_scaffold" in named:
        named.add(StateSection.SCENE.value)
    return frozenset(section for section in StateSection if section.value in named)


class Scaffold(StrEnum):
    """How much of a scaffold is shown."""

    ALL = "all"
    ESSENTIAL = "essential"
    CORE = "core"


class Bundle(StrEnum):
    """How much of the voice bundle is shown."""

    EXCERPTS = "excerpts"
    SUMMARY = "summary"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one tier has room for; numbers of tokens are for one value or for all of a kind."""

    value_tokens: int
    entries: int
    entries_tokens: int
    # Foundational entries beyond `entries`, as long as `entries_tokens` lasts.
    all_foundational: bool
    graph_facts: int
    memory: int
    notebooks: int
    alerts: int
    patterns: int
    bundle: Bundle
    scaffold: Scaffold
    is_bare: bool = False
    # What a loaded bundle, a scaffold and open alerts may cost beyond the layer's own budget.
    bundle_tokens: int = 0
    scaffold_tokens: int = 0
    alerts_tokens: int = 0


SIZES: Final[dict[ModelTier, Sizes]] = {
    ModelTier.FULL: Sizes(
        value_tokens=60,
        entries=10,
        entries_tokens=1400,
        all_foundational=True,
        graph_facts=5,
        memory=10,
        notebooks=8,
        alerts=5,
        patterns=10,
        bundle=Bundle.EXCERPTS,
        scaffold=Scaffold.ALL,
        bundle_tokens=1300,
        scaffold_tokens=600,
        alerts_tokens=600,
    ),
    ModelTier.MEDIUM: Sizes(
        value_tokens=36,
        entries=5,
        entries_tokens=260,
        all_foundational=False,
        graph_facts=2,
        memory=6,
        notebooks=5,
        alerts=3,
        patterns=5,
        bundle=Bundle.SUMMARY,
        scaffold=Scaffold.ESSENTIAL,
        bundle_tokens=150,
        scaffold_tokens=350,
        alerts_tokens=300,
    ),
    ModelTier.MINIMAL: Sizes(
        value_tokens=20,
        entries=2,
        entries_tokens=120,
        all_foundational=False,
        graph_facts=0,
        memory=3,
        notebooks=0,
        alerts=0,
        patterns=5,
        bundle=Bundle.LINE,
        scaffold=Scaffold.CORE,
        is_bare=True,
        bundle_tokens=90,
        scaffold_tokens=90,
    ),
}
