"""The registry: find the template for a name and a tier across the override layers.

Layers override each other file by file, like transparencies laid on top of one another. Of the
files that remain, the exact variant serves a tier first, then the plain file, then the closest
other variant. Refuses names that could leave the prompts folders.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.prompts.errors import TemplateInvalid, TemplateNotFound
from callboard.prompts.layer_files import LayerFiles, TemplateLayer
from callboard.prompts.passages import (
    TemplateVariant,
    Tier,
    fallback_order,
    spellings,
    variant_for,
    variant_named,
)
from callboard.prompts.templates import Template, TemplateHeader, TemplateOrigin, TemplateSource

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9_-]*)*")
_MAX_NAME_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class TemplateEntry:
    """A template as listed: its name and the files that are in force for it."""

    name: str
    origins: tuple[TemplateOrigin, ...]


@dataclass(frozen=True, slots=True)
class _FoundTemplate:
    files: LayerFiles
    relative: str
    source: TemplateSource
    label: str


def bundled_layer() -> TemplateLayer:
    """Return the layer of templates that come with Callboard itself."""
    return TemplateLayer("bundled", Path(__file__).parent / "bundled")


class TemplateRegistry:
    """Templates by name and tier, from several layers, always as they are on disk now."""

    def __init__(self, layers: Sequence[TemplateLayer]) -> None:
        """Take the layers from the weakest (bundled) to the strongest (project)."""
        self._layers = tuple(LayerFiles(layer) for layer in reversed(layers))
        # (layer, file, variant asked) -> the file version it was read from, and the template
        self._read: dict[
            tuple[str, str, str, TemplateVariant], tuple[TemplateSource, Template]
        ] = {}

    def get(self, name: str, tier: Tier = None) -> Template:
        """Return the template for a tier, or say where it was looked for."""
        check_name(name)
        wanted = variant_for(tier)
        looked: list[str] = []
        for variant in (wanted, None, *fallback_order(wanted)[1:]):
            found = self._find(name, variant, looked)
            if found is not None:
                return self._template(name, found, variant, wanted)
        raise self._not_found(name, looked)

    def entries(self) -> tuple[TemplateEntry, ...]:
        """List every template with the files in force for it, without reading them."""
        found = ((name, tuple(self._origins(name))) for name in sorted(self._names()))
        return tuple(TemplateEntry(name, origins) for name, origins in found if origins)

    def problems(self) -> tuple[TemplateInvalid, ...]:
        """Read every file of every layer and return what is wrong, for load-time checks."""
        found: list[TemplateInvalid] = []
        for files in self._layers:
            for relative in files.names():
                try:
                    files.source(relative)
                except TemplateInvalid as error:
                    found.append(error)
            try:
                files.index()
            except TemplateInvalid as error:
                found.append(error)
        return tuple(found)

    def _find(
        self, name: str, variant: TemplateVariant | None, looked: list[str]
    ) -> _FoundTemplate | None:
        for depth, files in enumerate(self._layers):
            if not files.is_there():
                looked.append(f"{files.layer.root}/{name}.md")
                continue
            declared = files.index().entries.get(name)
            if declared is not None and variant is not None and variant in declared.paths:
                return self._find_declared(name, declared.paths[variant], depth, declared.label)
            relative = _file_in_force(files, name, variant, looked)
            if relative is not None:
                source = files.source(relative)
                if source is not None:
                    label = declared.label if declared is not None else ""
                    return _FoundTemplate(files, relative, source, label)
        return None

    def _find_declared(self, name: str, relative: str, depth: int, label: str) -> _FoundTemplate:
        for files in self._layers[depth:]:
            source = files.source(relative)
            if source is not None:
                return _FoundTemplate(files, relative, source, label)
        layer = self._layers[depth].layer
        raise TemplateNotFound(
            f"The index of the {layer.name} layer declares {relative!r} for template {name!r}, "
            f"but no layer from there down holds that file.",
            fix=f"Create {layer.root / relative} or correct the index.",
            name=name,
            path=relative,
        )

    def _template(
        self,
        name: str,
        found: _FoundTemplate,
        variant: TemplateVariant | None,
        wanted: TemplateVariant,
    ) -> Template:
        # A file of a fallback variant is read as itself, not as the tier that was asked for.
        reading = variant or wanted
        key = (found.files.layer.name, found.relative, name, reading)
        cached = self._read.get(key)
        if cached is not None and cached[0] is found.source:
            return cached[1]
        body, parts = found.source.read_for(reading)
        front = found.source.front
        if found.label and not front.label:
            front = TemplateHeader(found.label, front.description, front.slots)
        origin = TemplateOrigin(found.files.layer.name, found.relative, variant)
        template = Template(name, origin, body, parts, front)
        self._read[key] = (found.source, template)
        return template

    def _origins(self, name: str) -> Iterator[TemplateOrigin]:
        for variant in (None, *TemplateVariant):
            for files in self._layers:
                declared = files.index().entries.get(name)
                if declared is not None and variant is not None and variant in declared.paths:
                    yield TemplateOrigin(files.layer.name, declared.paths[variant], variant)
                    break
                relative = _file_in_force(files, name, variant, [])
                if relative is not None:
                    yield TemplateOrigin(files.layer.name, relative, variant)
                    break

    def _names(self) -> set[str]:
        names: set[str] = set()
        for files in self._layers:
            names.update(files.index().entries)
            for relative in files.names():
                stem, _, ending = relative.removesuffix(".md").rpartition(".")
                is_variant = bool(stem) and variant_named(ending) is not None
                names.add(stem if is_variant else relative.removesuffix(".md"))
        return {name for name in names if _NAME.fullmatch(name)}

    def _not_found(self, name: str, looked: Sequence[str]) -> TemplateNotFound:
        near = difflib.get_close_matches(name, sorted(self._names()), n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else "See `callboard prompts list`."
        return TemplateNotFound(
            f"There is no template {name!r} in any of {len(self._layers)} layers",
            fix=hint,
            name=name,
            looked=list(looked),
            near=near,
        )


def check_name(name: str) -> str:
    """Return a template name if it is a plain relative name, else refuse it."""
    if len(name) > _MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise TemplateInvalid(
            f"{name[:_MAX_NAME_CHARS]!r} is not a template name.",
            fix="Use letters, digits, '-' and '_', with '/' between folders; no dots.",
            name=name[:_MAX_NAME_CHARS],
        )
    return name


def _file_in_force(
    files: LayerFiles, name: str, variant: TemplateVariant | None, looked: list[str]
) -> str | None:
    words = ("",) if variant is None else tuple(f".{word}" for word in spellings(variant))
    candidates = [f"{name}{word}.md" for word in words]
    looked.extend(f"{files.layer.root}/{candidate}" for candidate in candidates)
    present = [candidate for candidate in candidates if files.has(candidate)]
    if len(present) > 1:
        raise TemplateInvalid(
            f"{' and '.join(present)} of the {files.layer.name} layer are the same variant.",
            fix="Keep one of them.",
            path=present[0],
        )
    return present[0] if present else None
