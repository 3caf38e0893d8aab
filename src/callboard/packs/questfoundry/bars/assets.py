"""Assets: pictures, sounds and printed words as they are planned, and files as they are built."""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Final

from callboard.library.story.text.sentences import split_sentences
from callboard.packs.questfoundry.bars.checks import found, words_of_bars
from callboard.packs.questfoundry.bars.surfaces import BuiltText
from callboard.packs.questfoundry.book.model import Book, Cue, Picture
from callboard.packs.questfoundry.verdict import BarFinding

MOST_ALT_CHARS: Final = 200
MOST_ALT_SENTENCES: Final = 2


def read_pictures_and_cues(book: Book) -> Iterator[BarFinding]:
    """Tell which pictures and sounds somebody could not see or hear."""
    for picture in book.pictures:
        yield from _picture(picture)
    for cue in book.cues:
        yield from _cue(cue)


def read_page(built: BuiltText) -> Iterator[BarFinding]:
    """Tell what a built page keeps from those who do not see it."""
    if built.images_without_alt:
        yield found("built_alt", built.name, f"{built.images_without_alt} images without alt")
    before = 0
    for level in built.headings:
        if level > before + 1:
            yield found("heading_order", built.name, f"h{level} after h{before or 'nothing'}")
            break
        before = level


def read_codewords(book: Book, asked: frozenset[str]) -> Iterator[BarFinding]:
    """Tell which keys have no printed word, or one that says too much or nobody has reviewed."""
    if not book.codewords:
        return
    for key in sorted(asked - {each.key for each in book.codewords}):
        yield found("codeword_missing", f"codeword of {key}", f"choices ask for {key!r}")
    for each in book.codewords:
        place = f"codeword of {each.key}"
        word = each.printed.strip().casefold()
        spoilers = [term for term in book.spoilers if term.strip() and term.casefold() in word]
        if not word or word == each.key.casefold() or spoilers:
            yield found("codeword_tells", place, f"it prints {each.printed!r}")
        elif not each.reviewed:
            yield found("codeword_unreviewed", place, f"“{each.printed}” is not reviewed")


def read_builds(
    built: Mapping[str, bytes] | None, again: Mapping[str, bytes] | None
) -> Iterator[BarFinding]:
    """Tell where two builds of one book differ."""
    if not built:
        return
    if again is None:
        yield found("build_once", "files", f"{len(built)} files were built once")
        return
    for name in sorted(built.keys() ^ again.keys()):
        yield found("build_missing", name, "only one of the two builds has it")
    for name in sorted(built.keys() & again.keys()):
        one, other = built[name], again[name]
        if one != other:
            pairs = zip(one, other, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            yield found("build_differs", name, f"the builds differ from byte {same}")


def _picture(picture: Picture) -> Iterator[BarFinding]:
    place, alt = f"picture {picture.id}", picture.alt.strip()
    if not alt:
        yield found("alt_missing", place, f"no alt text for “{picture.subject}”")
        return
    sentences = len(split_sentences(alt))
    if len(alt) > MOST_ALT_CHARS or sentences > MOST_ALT_SENTENCES:
        yield found("alt_long", place, f"{len(alt)} characters, {sentences} sentences")
    if alt.casefold().startswith(tuple(f"{each} " for each in words_of_bars("alt_openings"))):
        yield found("alt_opening", place, f"“{alt[:40]}”")


def _cue(cue: Cue) -> Iterator[BarFinding]:
    place, caption = f"cue {cue.id}", cue.caption.strip()
    if not caption:
        yield found("caption_missing", place, "no caption")
    elif not (caption.startswith("[") and caption.endswith("]")):
        yield found("caption_brackets", place, f"“{caption[:40]}”")
    if not cue.description.strip():
        yield found("cue_untold", place, "no words stand for it")
    if cue.intensity == "high" and not cue.safety_note.strip():
        yield found("loud_cue", place, "high intensity and no safety note")
