"""Patterns of strangers: regular expressions that somebody else wrote, safe to run on any text.

What comes with a project, a script file, an agent, a model or a request runs on an engine whose
time grows with the text and never faster. Such an engine has no back-references and no look-around;
a pattern that needs them is refused with its name. Expressions of our own are plain `re`.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, Final, cast

from callboard.core.errors import InvalidInput
from callboard.core.pattern_syntax import MARK, Translation, mark_boundaries
from callboard.core.words import shorten

MOST_CHARS: Final = 1_000
"""How long a pattern may be."""
MOST_TEXT: Final = 1_000_000
"""How much of a text a pattern looks at: the beginning."""

# What a pattern may grow to when its counted repetitions are written out.
_MOST_MEMORY: Final = 4 << 20
_MOST_STEPS: Final = 25_000
_NEEDS: Final = (
    (re.compile(r"\(\?<?[=!]"), "looks ahead or behind (`(?=`, `(?!`, `(?<=`, `(?<!`)"),
    (re.compile(r"\\[1-9]|\(\?P="), "refers back to what a group matched"),
    (re.compile(r"\(\?>|[*+?}]\+"), "has an atomic group or a possessive repetition"),
    (re.compile(r"\(\?\("), "asks whether a group matched"),
    (re.compile(r"\\B"), r"looks for a place that is no word boundary (`\B`)"),
)
_FIX: Final = "Write the words themselves, joined by |, with .* or \\w+ for what may vary."


class UnusablePattern(InvalidInput):
    """A regular expression that is none, is too large, or needs what no linear engine does."""

    code = "unusable_pattern"


class LinearPattern:
    """A compiled pattern; its time on any text grows with the length of the text only."""

    def __init__(self, source: str, *, ignores_case: bool = False) -> None:
        """Compile a pattern, or refuse it with the reason."""
        self.source = source
        self._ignores_case = ignores_case
        if len(source) > MOST_CHARS:
            raise _refusal(source, f"it is longer than {MOST_CHARS} characters")
        translation = Translation(source)
        self._plain = self._compiled(translation.text())
        self._has_boundaries = translation.has_boundaries
        if self._plain.programsize > _MOST_STEPS:
            raise _refusal(source, "it repeats too much at once")

    def search(self, text: str) -> tuple[int, int] | None:
        """Return where the first match begins and ends, or None."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[tuple[int, int]]:
        """Go through the matches, each as its beginning and its end."""
        text = _sound(text[:MOST_TEXT])
        if not self._has_boundaries or text.isascii():
            for found in self._plain.finditer(text):
                yield found.span()
            return
        marked = mark_boundaries(text)
        marks, last = 0, 0
        before: tuple[int, int] | None = None
        for found in self._marked.finditer(marked):
            start, end = found.span()
            marks += marked.count(MARK, last, start)
            within = marked.count(MARK, start, end)
            place = (start - marks, end - marks - within)
            marks, last = marks + within, end
            # Nothing can be found before a mark and behind it: in the text that is one place.
            if place != before:
                yield place
            before = place

    def fullmatch(self, text: str) -> bool:
        """Say whether a text matches as a whole; one that is too long does not."""
        if len(text) > MOST_TEXT:
            return False
        text = _sound(text)
        if not self._has_boundaries or text.isascii():
            return self._whole.fullmatch(text) is not None
        return self._marked_whole.fullmatch(mark_boundaries(text)) is not None

    @cached_property
    def _marked(self) -> Any:
        return self._compiled(Translation(self.source, is_marked=True).text())

    @cached_property
    def _whole(self) -> Any:
        return self._compiled(Translation(self.source, is_whole=True).text())

    @cached_property
    def _marked_whole(self) -> Any:
        inside = Translation(self.source, is_marked=True, is_whole=True).text()
        return self._compiled(f"(?:{inside}){MARK}?")

    def _compiled(self, translated: str) -> Any:
        # Imported here: most of what runs never meets a pattern of somebody else.
        import re2

        engine = cast(Any, re2)
        options = engine.Options()
        options.log_errors = False
        options.max_mem = _MOST_MEMORY
        options.case_sensitive = not self._ignores_case
        try:
            return engine.compile(translated, options)
        except (engine.error, UnicodeEncodeError) as error:
            raise _refusal(self.source, _reason(self.source, error)) from error


@lru_cache(maxsize=1024)
def compile_pattern(source: str, *, ignores_case: bool = False) -> LinearPattern:
    """Return a stranger's pattern, ready to be looked for; refuse what cannot be used."""
    return LinearPattern(source, ignores_case=ignores_case)


def pattern_problem(source: str) -> str | None:
    """Say why a stranger's pattern cannot be used, or None."""
    try:
        compile_pattern(source)
    except UnusablePattern as error:
        return error.message
    return None


def _reason(source: str, error: Exception) -> str:
    for needed, what in _NEEDS:
        if needed.search(source) is not None:
            return f"it {what}, which patterns here cannot do"
    told = error.args[0] if error.args else ""
    said = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
    return f"it is not a regular expression: {said}"


def _refusal(source: str, why: str) -> UnusablePattern:
    shown = shorten(source, 80, on_top=True)
    return UnusablePattern(f"The pattern {shown!r} cannot be used: {why}", fix=_FIX)


def _sound(text: str) -> str:
    """Return a text the engine can read: half a surrogate pair stands for nothing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
