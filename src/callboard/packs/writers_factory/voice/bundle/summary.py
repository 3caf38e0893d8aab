"""The voice in a few words: made once, when the bundle is made, and kept with it."""

from collections.abc import Sequence
from typing import Final

from callboard.packs.writers_factory.prose import PatternSheet, Stylometrics

SUMMARY_WORDS: Final = 60
LINE_WORDS: Final = 25
_AVOIDED: Final = 3


def summarise(gold: Stylometrics, domains: Sequence[str], sheet: PatternSheet) -> str:
    """Return the voice in at most sixty words: view, tense, rhythm, images, what to avoid."""
    return _cut(f"{_view(gold)}. {_rhythm(gold)}. {_images(domains)}. {_avoid(sheet)}.")


def one_line(gold: Stylometrics, domains: Sequence[str]) -> str:
    """Return the same in at most twenty-five words, for models with little room."""
    short = f"{_view(gold)}; sentences of about {round(gold.mean_sentence_words)} words"
    images = f"; images of {', '.join(domains[:2])}" if domains else ""
    return shortened(f"{short}{images}.", LINE_WORDS)


def shortened(text: str, words: int) -> str:
    """Return the first words of a text."""
    held = text.split()
    return text if len(held) <= words else f"{' '.join(held[:words]).rstrip(',;:.')}."


def _view(gold: Stylometrics) -> str:
    return f"{gold.pov.capitalize()} person, {gold.tense} tense"


def _rhythm(gold: Stylometrics) -> str:
    mean, spread = round(gold.mean_sentence_words), gold.sd_sentence_words
    is_varied = spread > 0.55 * gold.mean_sentence_words
    return f"Sentences of about {mean} words, {'strongly varied' if is_varied else 'even'}"


def _images(domains: Sequence[str]) -> str:
    return f"Images from {', '.join(domains[:3])}" if domains else "Few images"


def _avoid(sheet: PatternSheet) -> str:
    worst = sheet.zero_tolerance(_AVOIDED)
    names = [*worst, *(p.name for p in sheet.patterns if p.name not in worst)][:_AVOIDED]
    return f"Avoid: {'; '.join(shortened(name, 6) for name in names)}"


def _cut(text: str) -> str:
    return shortened(text, SUMMARY_WORDS)
