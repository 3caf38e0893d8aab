"""Words: a text cut to size where people read it, and names made comparable. Knows no language."""

from callboard.core.canonical import composed


def shorten(text: str, most_chars: int, *, on_top: bool = False, strip: bool = False) -> str:
    """Return at most so many characters of a text, "…" where it was cut.

    The mark is one of them unless it comes `on_top`; `strip` leaves no space before it.
    """
    if len(text) <= most_chars:
        return text
    kept = text[: max(most_chars - (not on_top), 0)]
    return f"{kept.rstrip() if strip else kept}…"


def shorten_at_word(text: str, most_chars: int, mark: str = "…") -> str:
    """Return a text cut behind a word, the mark on top."""
    if len(text) <= most_chars:
        return text
    kept = text[:most_chars]
    return f"{kept.rpartition(' ')[0] or kept}{mark}"


def one_line(text: str, most_chars: int, *, strip: bool = False) -> str:
    """Return a text on one line, shortened if need be."""
    return shorten(" ".join(text.split()), most_chars, strip=strip)


def folded(text: str) -> str:
    """Return a text as it is compared: compatibility form, no case."""
    return composed(text).casefold()


def folded_name(name: str) -> str:
    """Return what two spellings of a name have in common: case and spaces do not matter."""
    return " ".join(folded(name).split())
