"""The entity lexicon: canon cards first, then the names the scenes themselves establish."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from callboard.library.story.index.census import LINKS, Census, Name
from callboard.library.story.index.entities import Entities, Entity
from callboard.library.story.index.kinds import card_kind
from callboard.library.story.index.metadata import name_from_path
from callboard.library.story.index.names import NameCounts
from callboard.library.story.lexicon.lists import word_list
from callboard.library.story.model import StoryFile
from callboard.library.story.text import Document
from callboard.library.story.thresholds import NameThresholds

# A lone name belongs to the bearer who is named this many times as often as the next.
_DOMINANT: Final = 3
_SPEAKING_SHARE: Final = 0.05
_PLACED_SHARE: Final = 0.4


def build_entities(
    carded: Entities, counts: Iterable[NameCounts], limits: NameThresholds
) -> Entities:
    """Make the lexicon of a project from its cards' entities and the names in its scenes."""
    names = Census(counts, limits).names()
    found = _scene_entities(names, carded)
    named = (entity for entity in found if entity.occurrences >= limits.min_occurrences)
    return Entities([*carded, *named])


def entities_of_cards(cards: Sequence[tuple[StoryFile, Document]]) -> Entities:
    """Make the entities that canon cards describe."""
    bearers: Counter[str] = Counter()
    for file, _ in cards:
        bearers.update({word for word in _title(file).split() if _is_own(word)})
    found: list[Entity] = []
    for file, document in sorted(cards, key=lambda card: card[0].path):
        kind = card_kind(document)
        title = _title(file)
        aliases = [title, *file.aliases, _capitalised(name_from_path(file.path), title)]
        words = title.split()
        if kind == "character" and len(words) > 1:
            aliases += [
                word for word in (words[0], words[-1]) if bearers[word] == 1 and _is_own(word)
            ]
        found.append(Entity(title, kind, _distinct(aliases), file.path))
    return Entities(found)


def _title(file: StoryFile) -> str:
    """Return whom a card is about: `Character: Kael (the Elder)` is about Kael."""
    bare = file.title.partition("(")[0].partition(" — ")[0]
    label, _, name = bare.partition(": ")
    return (name or label).strip() or file.title


def _capitalised(name: str, title: str) -> str:
    if name.lower() == title.lower():
        return title
    words = name.split()
    return " ".join(word if word in LINKS else word[:1].upper() + word[1:] for word in words)


def _is_own(word: str) -> bool:
    return word[:1].isupper() and len(word) > 2 and word.lower() not in word_list("not_names")


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for name in names:
        if name.strip():
            seen.setdefault(name.strip().lower(), name.strip())
    return tuple(seen.values())


def _scene_entities(names: Sequence[Name], known: Entities) -> list[Entity]:
    found: list[Entity] = []
    for group in _grouped(names):
        if any(known.get(name.text) or any(map(known.get, name.forms)) for name in group):
            continue
        forms: Counter[str] = Counter()
        for name in group:
            forms.update(name.forms)
        title = _best_form(group[0])
        aliases = _distinct([title, *(form for form, _ in sorted(forms.items(), key=_by_count))])
        total = sum(name.total for name in group)
        found.append(Entity(title, _kind(group, total), aliases, None, total))
    return sorted(found, key=lambda entity: (-entity.occurrences, entity.name))


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _best_form(name: Name) -> str:
    if not name.is_single or name.text in name.forms:
        return name.text
    return min(name.forms.items(), key=_by_count)[0]


def _kind(group: Sequence[Name], total: int) -> str:
    if any(name.has_title for name in group):
        return "character"
    if not group[0].is_single and group[0].words[-1].lower() in word_list("place_words"):
        return "location"
    if sum(name.speaking for name in group) >= max(2, total * _SPEAKING_SHARE):
        return "character"
    placed = sum(name.placed for name in group)
    return "location" if placed >= max(2, total * _PLACED_SHARE) else "name"


def _grouped(names: Sequence[Name]) -> list[list[Name]]:
    """Put a lone first or last name with the one full name it must belong to."""
    by_end: Mapping[str, list[Name]] = defaultdict(list)
    groups: dict[int, list[Name]] = {}
    for name in names:
        if not name.is_single:
            groups[id(name)] = [name]
            if not LINKS.intersection(name.words):
                # One mention tells whose a surname is, but not who else has that first name.
                ends = {name.words[0], name.words[-1]} if name.total > 1 else {name.words[-1]}
                for end in sorted(ends):
                    by_end[end].append(name)
    for name in names:
        if name.is_single:
            owner = _owner(name, by_end.get(name.text, ()))
            groups[id(name) if owner is None else id(owner)] = [
                *groups.get(id(owner), ()),
                name,
            ]
    return _without_plurals(list(groups.values()))


def _owner(name: Name, candidates: Sequence[Name]) -> Name | None:
    fitting = [each for each in candidates if not name.title or each.title == name.title]
    if not fitting or (name.title and len(fitting) > 1):
        return None
    ordered = sorted(fitting, key=lambda each: (-each.total, each.words))
    if len(ordered) > 1 and ordered[0].total < _DOMINANT * ordered[1].total:
        return None
    return ordered[0]


def _without_plurals(groups: list[list[Name]]) -> list[list[Name]]:
    """Put a plural with its singular; a family is not one more person."""
    singular = {name.text: group for group in groups for name in group if name.is_single}
    kept: list[list[Name]] = []
    for group in groups:
        head = group[0]
        owner = singular.get(head.text.removesuffix("s")) if head.is_single else None
        if owner is None or owner is group or not head.text.endswith("s"):
            kept.append(group)
        elif not any(name.has_title for name in owner):
            owner.extend(group)
    return kept
