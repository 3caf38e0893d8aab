"""Drafts: the scaffolds and variants of a project between plan and book, and what can be wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection


class ScaffoldUnknown(NotFound):
    """A scaffold was named that nobody made."""

    code = "scaffold_unknown"


class ScaffoldInvalid(InvalidInput):
    """A scaffold says something the story does not allow; every fault is named."""

    code = "scaffold_invalid"


class SceneNotPlanned(NotFound):
    """A brief was asked for a scene the outline does not have."""

    code = "scene_not_planned"


class ScaffoldNotApproved(Conflict):
    """A scene cannot be written from a scaffold the writer has not approved."""

    code = "scaffold_not_approved"


class VariantUnknown(NotFound):
    """A variant was named that nobody wrote."""

    code = "variant_unknown"


class VoiceUnlocked(Conflict):
    """Scenes wait for the voice, unless the writer passed the gate without it."""

    code = "voice_unlocked"


class HybridInvalid(InvalidInput):
    """The parts of a hybrid cannot be put together as they are named."""

    code = "hybrid_invalid"


class NoTextToAccept(Conflict):
    """A scene without a chosen text cannot be accepted."""

    code = "nothing_to_accept"


class NoOutlineProposed(Conflict):
    """There is no outline the writer could approve."""

    code = "no_outline_proposed"


class NoBeats(Conflict):
    """Scenes cannot be planned without a beat sheet."""

    code = "no_beats"


HYBRID: Final = "HYBRID"


@dataclass(frozen=True, slots=True)
class DraftFlag:
    """Something the writer should know of a variant; it stands in nobody's way."""

    code: str
    detail: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class SceneVariant(Coded):
    """One draft; without a text it failed, and `error` says why."""

    id: str
    scene_id: str
    strategy: str
    model: str = ""
    text: str = ""
    word_count: int = 0
    word_target: int = 0
    flags: tuple[DraftFlag, ...] = ()
    error: str = ""
    path: str = ""
    # Which scaffold it was written from, and whether the voice was locked then.
    scaffold_version: int = 1
    is_voice_locked: bool = True
    created_at: int = 0
    # For a hybrid: of each paragraph, the variant it was taken from.
    provenance: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def is_usable(self) -> bool:
        """Whether there is a text to choose."""
        return bool(self.text)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a draft, which blank lines separate."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return tuple(block.strip("\n") for block in blocks if block.strip())


def joined(paragraphs: tuple[str, ...]) -> str:
    """Return paragraphs as one text."""
    return "\n\n".join(paragraphs)


SCAFFOLD_KIND: Final = "scaffold"
REPLACED_KIND: Final = "replaced_scaffold"
ACTIVE_KIND: Final = "active_scaffold"
VARIANT_KIND: Final = "scene_variant"
_ACTIVE: Final = "active"


class Drafts:
    """Keeps and finds what is being worked on."""

    def __init__(self, workspace: Workspace, manuscript: Manuscript) -> None:
        """Take the project and its manuscript."""
        self._workspace = workspace
        self._manuscript = manuscript

    def scaffold(self, scaffold_id: str) -> SmartScaffold | None:
        """Return the scaffold of a scene, if there is one."""
        stored = self._workspace.records.get(SCAFFOLD_KIND, scaffold_id)
        return None if stored is None else SmartScaffold.from_json(stored)

    def require_scaffold(self, scaffold_id: str, version: int | None = None) -> SmartScaffold:
        """Return the scaffold of a scene, or one it had before; say which there are otherwise."""
        found = self.scaffold(scaffold_id)
        if found is None:
            known = ", ".join(self._workspace.records.all(SCAFFOLD_KIND)) or "none yet"
            raise ScaffoldUnknown(
                f"There is no scaffold {scaffold_id!r}",
                fix=f"Scaffolds: {known}. Make one with generate_scaffold.",
                scaffold_id=scaffold_id,
            )
        if version is None or version == found.version:
            return found
        stored = self._workspace.records.get(REPLACED_KIND, f"{scaffold_id}/{version}")
        if stored is None:
            raise ScaffoldUnknown(
                f"The scaffold {scaffold_id} has no version {version} on record",
                fix=f"It has version {found.version} now.",
                scaffold_id=scaffold_id,
            )
        return SmartScaffold.from_json(stored)

    async def put_scaffold(self, scaffold: SmartScaffold) -> SmartScaffold:
        """Keep a scaffold under the next version, and the one it replaces beside it.

        One that says the same keeps its own version.
        """
        records, name = self._workspace.records, scaffold.scaffold_id

        def act(connection: Connection) -> SmartScaffold:
            stored = records.load(connection, SCAFFOLD_KIND, name)
            new = replace(scaffold, version=1)
            if stored is not None:
                before = SmartScaffold.from_json(stored)
                if replace(scaffold, version=before.version) == before:
                    return before
                new = replace(scaffold, version=before.version + 1)
                records.store(connection, REPLACED_KIND, f"{name}/{before.version}", stored)
            records.store(connection, SCAFFOLD_KIND, name, new.to_json())
            return new

        return await self._workspace.studio.database.write(act)

    def scaffold_versions(self, scaffold_id: str) -> tuple[SmartScaffold, ...]:
        """Return every scaffold a scene had, oldest first; the last is the one it has."""
        stored = self._workspace.records.all(REPLACED_KIND)
        replaced = [
            SmartScaffold.from_json(body)
            for name, body in stored.items()
            if name.rpartition("/")[0] == scaffold_id
        ]
        found = (*replaced, self.require_scaffold(scaffold_id))
        return tuple(sorted(found, key=lambda each: each.version))

    def active(self) -> SmartScaffold | None:
        """Return the scaffold of the scene that is being written."""
        stored = self._workspace.records.get(ACTIVE_KIND, _ACTIVE)
        name = str(stored["scaffold_id"]) if stored else ""
        return self.scaffold(name) if name else None

    async def activate(self, scaffold_id: str | None) -> None:
        """Make a scaffold the one that is being written from; None puts it away."""
        await self._workspace.records.put(ACTIVE_KIND, _ACTIVE, {"scaffold_id": scaffold_id or ""})

    async def drop(self, scaffold_id: str) -> None:
        """Remove the scaffold of a scene; the versions it had go with it."""
        records = self._workspace.records
        active = records.get(ACTIVE_KIND, _ACTIVE)
        for name in records.all(REPLACED_KIND):
            if name.rpartition("/")[0] == scaffold_id:
                await records.delete(REPLACED_KIND, name)
        await records.delete(SCAFFOLD_KIND, scaffold_id)
        if active is not None and active["scaffold_id"] == scaffold_id:
            await self.activate(None)

    def variants(self, scene_id: str) -> tuple[SceneVariant, ...]:
        """Return every variant of a scene, oldest first."""
        stored = self._workspace.records.all(VARIANT_KIND).values()
        return tuple(
            SceneVariant.from_json(body) for body in stored if body["scene_id"] == scene_id
        )

    def variant(self, scene_id: str, name: str) -> SceneVariant:
        """Return a variant by its id, or the newest of a strategy."""
        variants = self.variants(scene_id)
        wanted = name.strip().casefold()
        for variant in reversed(variants):
            if wanted in (variant.id.casefold(), variant.strategy.casefold()):
                return variant
        known = ", ".join(variant.id for variant in variants) or "none yet"
        raise VariantUnknown(
            f"{scene_id} has no variant {name!r}", fix=f"Variants: {known}.", scene_id=scene_id
        )

    async def put_variants(self, variants: Iterable[SceneVariant]) -> tuple[SceneVariant, ...]:
        """Keep variants, and their texts as files in the archive."""
        kept: list[SceneVariant] = []
        archive = self._manuscript.archive
        for variant in variants:
            path = ""
            if variant.is_usable:
                name = variant.id.partition(":")[2].replace(":", "_")
                path = archive.put_file(variant.scene_id, f"{name}.md", f"{variant.text}\n")
            kept.append(replace(variant, path=path))

        records = self._workspace.records

        def act(connection: Connection) -> None:
            for variant in kept:
                records.store(connection, VARIANT_KIND, variant.id, variant.to_json())

        await self._workspace.studio.database.write(act)
        return tuple(kept)

    def next_round(self, scene_id: str) -> int:
        """Return the number the next variants of a scene carry."""
        rounds = [variant.id.rpartition(":")[2] for variant in self.variants(scene_id)]
        return max((int(each) for each in rounds if each.isdigit()), default=0) + 1
