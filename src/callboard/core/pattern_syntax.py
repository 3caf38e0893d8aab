r"""Pattern syntax: a regular expression as Python reads it, told to the linear engine.

The engine knows `\w`, `\d`, `\s` and `\b` for ASCII only, ends `$` elsewhere and reads `{,3}` as
text. Here each becomes what Python means by it. A word boundary cannot be told to the engine, so
for texts with letters beyond ASCII boundaries are written into the text: `mark_boundaries` puts
`MARK` at each, and a pattern translated for marked texts looks for it. Checks nothing: what is no
expression, the engine refuses.
"""

import re
from typing import Final

# A code point that is no character and in no class the engine knows.
MARK: Final = "\ufdd0"
_DIGIT: Final = r"\p{Nd}"
_WORD: Final = r"\p{L}\p{N}_"
_SPACE: Final = r"\t-\r\x1c-\x20\x{85}\p{Z}"
_NOT_WORD: Final = (
    r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
    r"\x{203F}\x{2040}\x{2054}\x{FE33}\x{FE34}\x{FE4D}-\x{FE4F}\x{FF3F}"
)
_NOT_SPACE: Final = (
    r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}"
    r"\x00-\x08\x0e-\x1b\x{7f}-\x{84}\x{86}-\x{9f}"
)
_IN_CLASS: Final = {
    "d": _DIGIT,
    "D": r"\P{Nd}",
    "w": _WORD,
    "W": _NOT_WORD,
    "s": _SPACE,
    "S": _NOT_SPACE,
    "b": r"\x08",
}
_ALONE: Final = {
    "d": _DIGIT,
    "D": r"\P{Nd}",
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "s": f"[{_SPACE}]",
    "S": f"[^{_SPACE}]",
}
_CODE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_OPENING: Final = re.compile(r"\((?:\?(?:P<\w++>|[a-zA-Z]*+-?[a-zA-Z]*+[:)]|[^\s\w]))?")
_MANY_LINES: Final = re.compile(r"\(\?[a-zA-Z]*m")
_AT_MOST: Final = re.compile(r"\{,(\d+)\}")
_COUNT: Final = re.compile(r"\{\d+(?:,\d*)?\}")
_BOUNDARY: Final = re.compile(r"\b")


def mark_boundaries(text: str) -> str:
    """Return a text with a mark at each word boundary; a mark of its own becomes a space."""
    return _BOUNDARY.sub(MARK, text.replace(MARK, " "))


class Translation:
    """One expression read from left to right; `at` is the next character."""

    def __init__(self, source: str, *, is_marked: bool = False, is_whole: bool = False) -> None:
        """Take an expression, and whether texts will have marks and must match as a whole."""
        self._source = source
        self._at = 0
        self._mark = f"{MARK}?" if is_marked else ""
        self._not_mark = MARK if is_marked else ""
        # At the end `$` also stands before the last line feed, but not if all must match.
        many_lines = _MANY_LINES.search(source) is not None
        self._end = "$" if many_lines else r"\z" if is_whole else r"\n?\z"
        self.has_boundaries = False

    def text(self) -> str:
        """Return the expression as the engine reads it."""
        pieces: list[str] = []
        while self._at < len(self._source):
            pieces.append(self._next())
        return "".join(pieces)

    def _next(self) -> str:
        char = self._source[self._at]
        if char == "\\":
            return self._escape()
        if char == "[":
            return self._class()
        if char == "(":
            return self._take(_OPENING.match(self._source, self._at), char)
        if char == "{" and (few := _AT_MOST.match(self._source, self._at)) is not None:
            self._at = few.end()
            return f"{{0,{few[1]}}}"
        if char == "{" and (count := _COUNT.match(self._source, self._at)) is not None:
            return self._take(count, char)
        self._at += 1
        if char in "|)*+?^":
            return char
        if char == "$":
            return f"(?:{self._mark}{self._end})"
        if char == ".":
            # The mark is no character of the text.
            return self._consuming(f"[^{MARK}\\n]" if self._not_mark else ".")
        return self._consuming(rf"\{char}" if char in "{}]" else char)

    def _take(self, found: re.Match[str] | None, otherwise: str) -> str:
        taken = otherwise if found is None else found[0]
        self._at += len(taken)
        return taken

    def _consuming(self, atom: str) -> str:
        """Return what matches one character, with the mark that may stand before it."""
        return f"(?:{self._mark}{atom})" if self._mark else atom

    def _escape(self) -> str:
        code = _CODE.match(self._source, self._at)
        if code is not None:
            self._at = code.end()
            return self._consuming(rf"\x{{{code[1] or code[2] or code[3]}}}")
        char = self._source[self._at + 1 : self._at + 2]
        self._at += 2
        if char in _ALONE:
            negated = char.isupper() and self._mark
            atom = f"[^{_IN_CLASS[char.lower()]}{MARK}]" if negated else _ALONE[char]
            return self._consuming(atom)
        if char == "b":
            self.has_boundaries = True
            return MARK if self._mark else r"\b"
        if char == "B":
            # No mark says that something is not there: an escape nobody knows is refused.
            return r"\i"
        if char == "Z":
            return rf"(?:{self._mark}\z)"
        if char.isalnum() and char.isascii():
            # Control characters the engine knows by the same letter; the rest it refuses itself.
            return self._consuming(rf"\{char}") if char in "afnrtv" else rf"\{char}"
        return self._consuming(char if not char.isascii() else rf"\{char}")

    def _class(self) -> str:
        at = self._at + 1
        negated = self._source.startswith("^", at)
        at += negated
        pieces: list[str] = []
        start = at
        while at < len(self._source) and (self._source[at] != "]" or at == start):
            piece, at = self._member(at)
            pieces.append(piece)
        closed = "]" if at < len(self._source) else ""
        self._at = at + 1
        body = "".join(pieces)
        return self._consuming(
            f"[^{body}{self._not_mark}{closed}" if negated else f"[{body}{closed}"
        )

    def _member(self, at: int) -> tuple[str, int]:
        """Return one member of a class as the engine reads it, and where the next begins."""
        char = self._source[at]
        if char in "[]":
            return rf"\{char}", at + 1
        if char != "\\":
            return char, at + 1
        code = _CODE.match(self._source, at)
        if code is not None:
            return rf"\x{{{code[1] or code[2] or code[3]}}}", code.end()
        escaped = self._source[at + 1 : at + 2]
        if escaped in _IN_CLASS:
            return _IN_CLASS[escaped], at + 2
        return (escaped if escaped and not escaped.isascii() else rf"\{escaped}"), at + 2
