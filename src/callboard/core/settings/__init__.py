"""Layered settings without I/O: the model, how layers merge, and what is told when one is wrong."""

from callboard.core.settings.environment import (
    VariableFile,
    environment_layer,
    key_of,
    named_files,
    variable_of,
)
from callboard.core.settings.layers import (
    Layer,
    LayerName,
    Origin,
    SettingsWarning,
    WarningKind,
    merge,
)
from callboard.core.settings.model import Settings
from callboard.core.settings.resolve import LoadedSettings, resolve
from callboard.core.settings.schema import Key, json_schema

__all__ = [
    "Key",
    "Layer",
    "LayerName",
    "LoadedSettings",
    "Origin",
    "Settings",
    "SettingsWarning",
    "VariableFile",
    "WarningKind",
    "environment_layer",
    "json_schema",
    "key_of",
    "merge",
    "named_files",
    "resolve",
    "variable_of",
]
