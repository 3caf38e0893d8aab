"""Proposals: scene texts an agent offers. Nothing of the book changes before the writer says so."""

import difflib
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

from callboard.core.canonical import Json, digest, plain
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import MANUSCRIPT, Manuscript, parse_scene_id
from callboard.packs.writers_factory.model import SceneStatus, scene_id
from callboard.packs.writers_factory.scenes.variants.replies import clean_prose

PROPOSAL_KIND: Final = "scene_proposal"


class ProposalState(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class SceneProposal:
    """A text for a scene, and what it would change."""

    id: str
    scene_id: str
    path: str
    text: str
    diff: str
    source: str = ""
    state: ProposalState = ProposalState.PENDING
    # What the scene was when this was offered; another text since makes the diff a lie.
    base_hash: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape, which is also the one shown at the doors."""
        return plain(asdict(self))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "SceneProposal":
        """Read the stored shape."""
        return cls(**{**stored, "state": ProposalState(stored["state"])})


class SceneProposals:
    """The texts agents have offered for scenes."""

    def __init__(self, ground: Ground, manuscript: Manuscript) -> None:
        """Take the project and its manuscript."""
        self._ground = ground
        self._manuscript = manuscript

    def all(self, state: ProposalState | None = None) -> tuple[SceneProposal, ...]:
        """Return the proposals, oldest first, if wanted only those in a state."""
        stored = self._ground.records.all(PROPOSAL_KIND).values()
        found = (SceneProposal.from_json(body) for body in stored)
        return tuple(each for each in found if state is None or each.state is state)

    def find(self, proposal_id: str) -> SceneProposal:
        """Return one proposal."""
        stored = self._ground.records.get(PROPOSAL_KIND, proposal_id)
        if stored is None:
            known = ", ".join(each.id for each in self.all(ProposalState.PENDING)) or "none"
            raise NotFound(f"There is no proposal {proposal_id!r}", fix=f"Pending: {known}.")
        return SceneProposal.from_json(stored)

    async def propose(self, target: str, text: str, source: str = "") -> SceneProposal:
        """Keep a text offered for a scene, named by its id or its file, until the writer decides.

        The same text for the same scene is one proposal.
        """
        scene = self.resolve(target)
        prose = clean_prose(text)
        if not prose:
            raise InvalidInput(f"The proposal for {scene} has no text", fix="Send the scene.")
        before = self._manuscript.text(scene) if self._manuscript.has(scene) else ""
        for each in self.all(ProposalState.PENDING):
            if each.scene_id == scene and each.text == prose:
                return each
        path = self._manuscript.path(scene)
        number = len(self._ground.records.all(PROPOSAL_KIND)) + 1
        made = SceneProposal(
            f"{scene}/proposal-{number}",
            scene,
            path,
            prose,
            _diff(path, before, prose),
            source,
            base_hash=_hash(before),
        )
        await self._ground.records.put(PROPOSAL_KIND, made.id, made.to_json())
        return made

    async def accept(self, proposal_id: str) -> SceneProposal:
        """Make a proposal the draft of its scene; what was there before is archived."""
        proposal = self._pending(proposal_id)
        scene = proposal.scene_id
        await self._manuscript.open_scene(scene)
        if _hash(self._manuscript.text(scene)) != proposal.base_hash:
            raise Conflict(
                f"{scene} was changed after {proposal_id} was offered",
                fix="Look at both texts, then have it proposed again.",
            )
        meta = replace(self._manuscript.scene(scene), status=SceneStatus.DRAFTED)
        await self._manuscript.save(scene, proposal.text, meta, reason=f"{proposal_id} accepted")
        return await self._decide(proposal, ProposalState.ACCEPTED)

    async def reject(self, proposal_id: str) -> SceneProposal:
        """Put a proposal aside."""
        return await self._decide(self._pending(proposal_id), ProposalState.REJECTED)

    def resolve(self, target: str) -> str:
        """Return the scene a target means: `ch4-sc2`, or its file in the manuscript."""
        wanted = target.strip()
        if parse_scene_id(wanted) is not None:
            return wanted
        # Refuses every path that leads out of the project.
        path = self._ground.files.resolve(wanted)
        parts = path.split("/")
        if path.startswith(f"{MANUSCRIPT}/") and len(parts) == 4:
            chapter = parts[2].removeprefix("Chapter_")
            scene = parts[3].removeprefix("Scene_").removesuffix(".md")
            if chapter.isdigit() and scene.isdigit():
                name = scene_id(int(chapter), int(scene))
                if self._manuscript.path(name) == path:
                    return name
        raise InvalidInput(
            f"{target!r} is no scene",
            fix=f"Name a scene like ch4-sc2, or its file {MANUSCRIPT}/Chapter_04/Scene_02.md.",
        )

    def _pending(self, proposal_id: str) -> SceneProposal:
        proposal = self.find(proposal_id)
        if proposal.state is not ProposalState.PENDING:
            raise Conflict(f"{proposal_id} is already {proposal.state}", fix="Nothing is to do.")
        return proposal

    async def _decide(self, proposal: SceneProposal, state: ProposalState) -> SceneProposal:
        decided = replace(proposal, state=state)
        await self._ground.records.put(PROPOSAL_KIND, proposal.id, decided.to_json())
        return decided


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""
    )
    return "\n".join(lines)


def _hash(text: str) -> str:
    return digest(text)
