"""The desk: scaffolds, variants and proposals of a project, as they lie between plan and book."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.scenes.errors import ScaffoldUnknown, VariantUnknown
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.variant import SceneVariant

SCAFFOLD_KIND: Final = "scaffold"
ACTIVE_KIND: Final = "active_scaffold"
VARIANT_KIND: Final = "scene_variant"
_ACTIVE: Final = "active"


class Desk:
    """Keeps and finds what is being worked on."""

    def __init__(self, ground: Ground, manuscript: Manuscript) -> None:
        """Take the project and its manuscript."""
        self._ground = ground
        self._manuscript = manuscript

    def scaffold(self, scaffold_id: str) -> SmartScaffold | None:
        """Return the scaffold of a scene, if there is one."""
        stored = self._ground.records.get(SCAFFOLD_KIND, scaffold_id)
        return None if stored is None else SmartScaffold.from_json(stored)

    def require_scaffold(self, scaffold_id: str) -> SmartScaffold:
        """Return the scaffold of a scene, or say which there are."""
        found = self.scaffold(scaffold_id)
        if found is None:
            known = ", ".join(self._ground.records.all(SCAFFOLD_KIND)) or "none yet"
            raise ScaffoldUnknown(
                f"There is no scaffold {scaffold_id!r}",
                fix=f"Scaffolds: {known}. Make one with generate_scaffold.",
                scaffold_id=scaffold_id,
            )
        return found

    async def put_scaffold(self, scaffold: SmartScaffold) -> SmartScaffold:
        """Keep a scaffold under the next version; one that says the same keeps its own."""

        def work(old: dict[str, Any] | None) -> Mapping[str, Json]:
            if old is None:
                return replace(scaffold, version=1).to_json()
            before = SmartScaffold.from_json(old)
            is_same = replace(scaffold, version=before.version) == before
            return replace(scaffold, version=before.version + (0 if is_same else 1)).to_json()

        stored = await self._ground.records.change(SCAFFOLD_KIND, scaffold.scaffold_id, work)
        return SmartScaffold.from_json(stored)

    def active(self) -> SmartScaffold | None:
        """Return the scaffold of the scene that is being written."""
        stored = self._ground.records.get(ACTIVE_KIND, _ACTIVE)
        name = str(stored["scaffold_id"]) if stored else ""
        return self.scaffold(name) if name else None

    async def activate(self, scaffold_id: str | None) -> None:
        """Make a scaffold the one that is being written from; None puts it away."""
        await self._ground.records.put(ACTIVE_KIND, _ACTIVE, {"scaffold_id": scaffold_id or ""})

    def variants(self, scene_id: str) -> tuple[SceneVariant, ...]:
        """Return every variant of a scene, oldest first."""
        stored = self._ground.records.all(VARIANT_KIND).values()
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

        records = self._ground.records

        def act(connection: Any) -> None:
            for variant in kept:
                records.store(connection, VARIANT_KIND, variant.id, variant.to_json())

        await self._ground.studio.database.write(act)
        return tuple(kept)

    def next_round(self, scene_id: str) -> int:
        """Return the number the next variants of a scene carry."""
        rounds = [variant.id.rpartition(":")[2] for variant in self.variants(scene_id)]
        return max((int(each) for each in rounds if each.isdigit()), default=0) + 1
