"""Models that are files: `script:FILE`, `record:FILE:MODEL`, `replay:FILE:MODEL`.

Asking one opens a file, and `record` writes one. So only the user names them: by a flag, in the
environment or in the configuration folder. What arrives with a project, lies in its database or
comes over the API may repeat a name the user gave, and no other.
"""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from callboard.core.canonical import Json
from callboard.core.settings.model import ModelsSettings
from callboard.core.settings.schema import Key

RECORD: Final = "record"
REPLAY: Final = "replay"
SCRIPT: Final = "script"

REASON: Final = "it names a file that is read or written, which only you may do"

_KEYS: Final = ("default", "fallbacks", "fallback_default")


def is_file_model(model: str) -> bool:
    """Say whether a model id names a file; a bare `script` is what code has put in its place."""
    provider, _, rest = model.partition(":")
    return provider in (RECORD, REPLAY, SCRIPT) and bool(rest)


def file_models(settings: ModelsSettings) -> frozenset[str]:
    """Return the models that are files among those the settings name."""
    chains = (each for chain in settings.fallbacks.values() for each in chain)
    named = (settings.default, *settings.fallback_default, *chains)
    return frozenset(each for each in named if is_file_model(each))


def names_file_model(key: Key, value: Json) -> bool:
    """Say whether a value of a settings file names, at a key that takes models, one that is a file.

    The value has not been judged yet: it may be of any type.
    """
    if len(key) < 2 or key[0] != "models" or key[1] not in _KEYS:
        return False
    return any(is_file_model(each) for each in _texts(value))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from _texts(each)
