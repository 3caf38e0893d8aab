"""Environment variables as a layer: `CALLBOARD_<PATH>` sets a value, with `_FILE` a tree.

Underscores separate names and also stand inside them, so a variable is read against the tree of
known keys and never by splitting. Reading the named files is the caller's work.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.core.settings.layers import (
    LayerName,
    SettingsLayer,
    SettingsWarning,
    WarningKind,
    merge,
    nest,
)
from callboard.core.settings.schema import ANY_NAME, Key, SettingsNode, find, root, values

PREFIX: Final = "CALLBOARD_"
FILE_SUFFIX: Final = "_FILE"
NOT_SETTINGS: Final = frozenset(
    {
        "CALLBOARD_API_TOKEN",
        "CALLBOARD_CACHE_DIR",
        "CALLBOARD_CONFIG_DIR",
        "CALLBOARD_DATA_DIR",
        "CALLBOARD_PROJECT",
        "CALLBOARD_TRUST",
        "CALLBOARD_USER",
    }
)
"""Variables that say where things are, what is trusted and what the server's secret is; they come
before all settings."""


@dataclass(frozen=True, slots=True)
class VariableFile:
    """A file named by a variable, with what it holds once it is loaded."""

    variable: str
    key: Key
    file: str
    data: Json = None


def variable_of(key: Key) -> str:
    """Return the variable that sets a key."""
    return PREFIX + "_".join(name.upper() for name in key)


def key_of(variable: str) -> Key | None:
    """Return the key a variable sets, if it sets a single value."""
    for key in _matches(root(), variable.removeprefix(PREFIX)):
        node = find(key)
        if node is not None and node.is_value:
            return key
    return None


def named_files(environment: Mapping[str, str]) -> list[VariableFile]:
    """Return the files that variables name, not yet loaded."""
    named: list[VariableFile] = []
    for variable, file in _ours(environment):
        if not variable.endswith(FILE_SUFFIX) or key_of(variable) is not None:
            continue
        stem = variable.removeprefix(PREFIX).removesuffix(FILE_SUFFIX)
        key = next(_matches(root(), stem), None)
        if key is not None:
            named.append(VariableFile(variable, key, file))
    return named


def environment_layer(
    environment: Mapping[str, str], files: Sequence[VariableFile] = ()
) -> tuple[SettingsLayer, list[SettingsWarning]]:
    """Return the layer the environment makes; a single value wins over a file that holds it."""
    data: dict[str, Json] = {}
    sources: dict[Key, str] = {}
    warnings: list[SettingsWarning] = []
    for each in sorted(files, key=lambda each: len(each.key)):
        data = merge(data, nest(each.key, each.data))
        sources[each.key] = each.file
    known_files = {each.variable for each in named_files(environment)}
    for variable, text in _ours(environment):
        if variable in known_files:
            continue
        key = key_of(variable)
        if key is None:
            warnings.append(_unknown(variable))
        else:
            data = merge(data, nest(key, _parse(find(key), text)))
            sources[key] = variable
    return SettingsLayer(LayerName.ENVIRONMENT, "environment", data, sources), warnings


def _ours(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for variable in sorted(environment):
        # An empty variable is how shells say "not set".
        is_ours = variable.startswith(PREFIX) and variable not in NOT_SETTINGS
        if is_ours and environment[variable] != "":
            yield variable, environment[variable]


def _matches(node: SettingsNode, rest: str) -> Iterator[Key]:
    """Yield every key the remainder of a variable's name could mean."""
    for name, child in node.children.items():
        upper = name.upper()
        if rest == upper:
            yield (name,)
        elif rest.startswith(f"{upper}_"):
            for tail in _matches(child, rest[len(upper) + 1 :]):
                yield (name, *tail)
    if node.each is not None and rest:
        cuts = [index for index, letter in enumerate(rest) if letter == "_" and index > 0]
        for cut in cuts:
            for tail in _matches(node.each, rest[cut + 1 :]):
                yield (rest[:cut].lower(), *tail)
        yield (rest.lower(),)


def _parse(node: SettingsNode | None, text: str) -> Json:
    if node is None or not node.is_list:
        return text
    if text.startswith("["):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            pass
    return [part.strip() for part in text.split(",") if part.strip()]


def _unknown(variable: str) -> SettingsWarning:
    known = [variable_of(key) for key, _ in values() if ANY_NAME not in key]
    section = next(_matches(root(), variable.removeprefix(PREFIX)), None)
    close = difflib.get_close_matches(variable, known, n=1)
    message = f"{variable} sets nothing Callboard knows"
    if section is not None:
        message = f"{variable} names a group of settings; name a file in {variable}{FILE_SUFFIX}"
    elif close:
        message += f"; did you mean {close[0]}?"
    return SettingsWarning(
        WarningKind.UNKNOWN_VARIABLE, LayerName.ENVIRONMENT, "environment", message, variable
    )
