"""Who is named in each scene, taken from the story index."""

from callboard.library.story.index import Entity, StoryIndex
from callboard.library.story.model import StoryFile
from callboard.library.story.text.words import stop_words, words_of
from callboard.library.story.tools.reader.people import Appearance, Cast, Named
from callboard.library.story.tools.reader.transitions import Setting

_MIN_LETTERS = 4


class Casting:
    """Makes casts and settings of scenes; what cards say is looked up once."""

    def __init__(self, index: StoryIndex) -> None:
        """Take the index of the project."""
        self._index = index
        self._named: dict[str, Named] = {}

    def cast(self, file: StoryFile) -> Cast:
        """Return a scene with everybody and everything named in it."""
        places: dict[str, list[int]] = {}
        entities: dict[str, Entity] = {}
        for mention in self._index.mentions(file.path):
            places.setdefault(mention.entity.name, []).append(mention.sentence)
            entities[mention.entity.name] = mention.entity
        return Cast(
            self._index.document(file.path),
            file.title,
            {
                name: Appearance(self._of(entities[name]), tuple(dict.fromkeys(found)), len(found))
                for name, found in places.items()
            },
        )

    def setting(self, file: StoryFile) -> Setting:
        """Return what a scene declares about itself."""
        pov_words: frozenset[str] = frozenset()
        if file.pov:
            entity = self._index.entities.get(file.pov)
            names = entity.aliases if entity else (file.pov,)
            pov_words = frozenset(word for name in names for word in words_of(name)) - stop_words()
        return Setting(
            self._index.document(file.path),
            file.title,
            file.pov,
            file.location,
            file.when,
            pov_words,
        )

    def _of(self, entity: Entity) -> Named:
        if entity.name not in self._named:
            known_for = frozenset[str]()
            if entity.card is not None:
                card = self._index.document(entity.card)
                own = {word for alias in entity.aliases for word in words_of(alias)}
                told = f"{' '.join(card.fields.values())} {card.prose}"
                known_for = _telling(told) - own
            self._named[entity.name] = Named(entity.name, entity.kind, known_for)
        return self._named[entity.name]


def _telling(text: str) -> frozenset[str]:
    return frozenset(
        word for word in words_of(text) if len(word) >= _MIN_LETTERS and word not in stop_words()
    )
