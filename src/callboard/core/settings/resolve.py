"""Layers become settings: merged, judged key by key, never refused as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from callboard.core.canonical import Json
from callboard.core.parsing import misfit
from callboard.core.settings.layers import (
    OWN,
    LayerName,
    SettingsLayer,
    SettingsWarning,
    ValueOrigin,
    WarningKind,
    as_mapping,
    existing,
    get,
    has,
    in_order,
    leaves,
    merge,
    nest,
    show,
    with_text_names,
    without,
)
from callboard.core.settings.model import Settings
from callboard.core.settings.schema import (
    REASON,
    Key,
    SettingsNode,
    find,
    key_text,
    names_file_model,
    near_key,
    root,
)

_DEFAULTS = ValueOrigin(LayerName.DEFAULTS, "built in")


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings in force, what was wrong on the way, and which layer set each key.

    `own` is what the layers say that only the user writes: whatever may not come from a project
    is compared with it.
    """

    settings: Settings
    warnings: tuple[SettingsWarning, ...] = ()
    origins: Mapping[str, ValueOrigin] = field(default_factory=dict[str, ValueOrigin])
    own: Settings = field(default_factory=Settings)

    @property
    def summary(self) -> str:
        """Return what is told at start-up."""
        count = len(self.warnings)
        if not count:
            return "Config loaded"
        return f"Config loaded with {count} warning{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Rejected:
    """A value that could not be used; what is used instead is known only at the end."""

    key: Key
    value: Json
    reason: str
    layer: LayerName
    source: str


def resolve(
    layers: Iterable[SettingsLayer],
    earlier: Sequence[SettingsWarning] = (),
    *,
    is_trusted: bool = True,
) -> LoadedSettings:
    """Return the settings that layers make; a bad value is replaced by its default and told.

    Of the file of a project that nobody has trusted only what does no harm counts.
    """
    ordered = in_order(layers)
    warnings = list(earlier)
    rejected: list[_Rejected] = []
    clean: list[SettingsLayer] = []
    for layer in ordered:
        known, unknown = _known_only(layer)
        warnings += unknown
        if layer.name is LayerName.PROJECT and not is_trusted:
            known = _harmless_only(known)
        elif layer.name is LayerName.PROJECT:
            known, held_back = _unrestricted_only(known, ordered)
            warnings += held_back
        if layer.name not in OWN:
            known, held_back = _without_file_models(known)
            warnings += held_back
        if layer.name in (LayerName.ENVIRONMENT, LayerName.FLAGS):
            known, unusable = _usable_only(known)
            rejected += unusable
        clean.append(known)
    merged: dict[str, Json] = {}
    for layer in clean:
        merged = merge(merged, layer.data)
    settings, merged, bad = _validate(merged)
    rejected += [_blame(clean, key, value, reason) for key, value, reason in bad]
    in_force = settings.model_dump(mode="json")
    warnings += [_rejection(each, in_force) for each in rejected]
    return LoadedSettings(
        settings, tuple(warnings), _origins(clean, merged, in_force), _own(clean, settings)
    )


def _known_only(layer: SettingsLayer) -> tuple[SettingsLayer, list[SettingsWarning]]:
    warnings: list[SettingsWarning] = []

    def keep(node: SettingsNode, data: Mapping[str, Json], parent: Key) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for name, value in data.items():
            child, key = node.child(name), (*parent, name)
            if child is None:
                warnings.append(_unknown(layer, key))
                continue
            below = as_mapping(value)
            if value is None and not child.is_value:
                continue  # `models:` with nothing under it is an empty section
            kept[name] = value if below is None or child.is_value else keep(child, below, key)
        return kept

    return replace(layer, data=keep(root(), with_text_names(layer.data), ())), warnings


def _unknown(layer: SettingsLayer, key: Key) -> SettingsWarning:
    near = near_key(key[:-1], key[-1])
    hint = f"; did you mean {near}?" if near else ""
    message = f"{key_text(key)} is not a setting and is ignored{hint}"
    source = layer.source_of(key)
    return SettingsWarning(WarningKind.UNKNOWN_KEY, layer.name, source, message, key_text(key))


def _unrestricted_only(
    project: SettingsLayer, layers: Sequence[SettingsLayer]
) -> tuple[SettingsLayer, list[SettingsWarning]]:
    warnings: list[SettingsWarning] = []
    data = dict(project.data)
    for key, value in leaves(project.data):
        node = find(key)
        reason = None if node is None else node.restricted_because
        if reason is None:
            continue
        data = without(data, key)
        is_settled = any(
            has(with_text_names(layer.data), key)
            for layer in layers
            if layer.name is not LayerName.PROJECT
        )
        if not is_settled:
            warnings.append(_held_back(project, key, value, reason))
    return replace(project, data=data), warnings


def _harmless_only(project: SettingsLayer) -> SettingsLayer:
    """Return what a stranger may say; that all else is left out is told with the folder."""
    data = dict(project.data)
    for key, _ in leaves(project.data):
        node = find(key)
        if node is None or not node.is_harmless:
            data = without(data, key)
    return replace(project, data=data)


def _without_file_models(layer: SettingsLayer) -> tuple[SettingsLayer, list[SettingsWarning]]:
    """Take out every model that is a file, whatever else the layer may decide."""
    warnings: list[SettingsWarning] = []
    data = dict(layer.data)
    for key, value in leaves(layer.data):
        if not names_file_model(key, value):
            continue
        data = without(data, key)
        shown = show(key, value)
        message = (
            f"{key_text(key)}: {shown} is not applied, because {REASON}; "
            "if you want it, name it with --model or in your own config.yaml"
        )
        source = layer.source_of(key)
        warnings.append(
            SettingsWarning(
                WarningKind.RESTRICTED, layer.name, source, message, key_text(key), rejected=shown
            )
        )
    return replace(layer, data=data), warnings


def _own(layers: Sequence[SettingsLayer], in_force: Settings) -> Settings:
    """Return what the user's own layers say by themselves."""
    if not any(layer.data for layer in layers if layer.name not in OWN):
        return in_force
    merged: dict[str, Json] = {}
    for layer in layers:
        if layer.name in OWN:
            merged = merge(merged, layer.data)
    return _validate(merged)[0]


def _held_back(project: SettingsLayer, key: Key, value: Json, reason: str) -> SettingsWarning:
    message = (
        f"{key_text(key)} came with the project and is not applied, because {reason}; "
        "if you want it, write it into your own config.yaml or .callboard/local/config.yaml"
    )
    return SettingsWarning(
        WarningKind.RESTRICTED,
        project.name,
        project.source_of(key),
        message,
        key_text(key),
        rejected=show(key, value),
    )


def _usable_only(layer: SettingsLayer) -> tuple[SettingsLayer, list[_Rejected]]:
    data = dict(layer.data)
    unusable: list[_Rejected] = []
    for key, value in leaves(layer.data):
        try:
            Settings.model_validate(nest(key, value))
        except ValidationError as error:
            data = without(data, key)
            reason = misfit(error.errors()[0])
            source = layer.source_of(key)
            unusable.append(_Rejected(key, value, reason, layer.name, source))
    return replace(layer, data=data), unusable


def _validate(
    data: dict[str, Json],
) -> tuple[Settings, dict[str, Json], list[tuple[Key, Json, str]]]:
    bad: list[tuple[Key, Json, str]] = []
    while True:
        try:
            return Settings.model_validate(data), data, bad
        except ValidationError as error:
            found = {
                existing(data, tuple(str(part) for part in each["loc"])): misfit(each)
                for each in error.errors()
            }
        if () in found:
            return Settings(), {}, bad  # no single key is to blame, so none can be kept
        for key, reason in found.items():
            # An error deeper in a value already taken out has nothing left to take out.
            if has(data, key):
                bad.append((key, get(data, key), reason))
                data = without(data, key)


def _blame(layers: Sequence[SettingsLayer], key: Key, value: Json, reason: str) -> _Rejected:
    layer = next(each for each in reversed(layers) if has(each.data, key))
    return _Rejected(key, value, reason, layer.name, layer.source_of(key))


def _rejection(rejected: _Rejected, in_force: Mapping[str, Json]) -> SettingsWarning:
    key = rejected.key
    used = show(key, get(in_force, key)) if has(in_force, key) else "nothing"
    value = show(key, rejected.value)
    reason = rejected.reason.removeprefix("Value error, ")
    return SettingsWarning(
        WarningKind.BAD_VALUE,
        rejected.layer,
        rejected.source,
        f"{key_text(key)}: {value} cannot be used ({reason}); using {used}",
        key_text(key),
        rejected=value,
        used=used,
    )


def _origins(
    layers: Sequence[SettingsLayer], merged: Mapping[str, Json], in_force: Mapping[str, Json]
) -> dict[str, ValueOrigin]:
    origins: dict[str, ValueOrigin] = {}
    for key, _ in leaves(in_force):
        setters = [layer for layer in layers if has(layer.data, key)] if has(merged, key) else []
        origins[key_text(key)] = (
            ValueOrigin(setters[-1].name, setters[-1].source_of(key)) if setters else _DEFAULTS
        )
    return origins
