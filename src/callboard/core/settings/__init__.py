"""Layered settings without I/O: the model, how layers merge, and what is told when one is wrong."""

from callboard.core.settings.environment import (
    VariableFile,
    environment_layer,
    key_of,
    named_files,
    variable_of,
)
from callboard.core.settings.layers import (
    LayerName,
    SettingsLayer,
    SettingsWarning,
    ValueOrigin,
    WarningKind,
    merge,
)
from callboard.core.settings.model import Settings
from callboard.core.settings.resolve import LoadedSettings, resolve
from callboard.core.settings.schema import Key, json_schema

__all__ = [
    "Key",
    "LayerName",
    "LoadedSettings",
    "Settings",
    "SettingsLayer",
    "SettingsWarning",
    "ValueOrigin",
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
