"""Making the bundle: the chosen passage becomes the files every later scene is written by.

An older bundle is kept as a version. Once the voice is locked, only the writer can have it remade.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.engine.run import Run
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.prose import base_sheet
from callboard.packs.writers_factory.voice.bundle.content import (
    BundleContent,
    noted_traits,
    rejected_traits,
)
from callboard.packs.writers_factory.voice.bundle.describing import Chosen, describe_voice
from callboard.packs.writers_factory.voice.bundle.evolution import Arc
from callboard.packs.writers_factory.voice.bundle.reading import (
    DATA_FILE,
    DEFAULT_PATH,
    FILES,
    GOLD_FILE,
    GUIDE_FILE,
    SHEET_FILE,
)
from callboard.packs.writers_factory.voice.state import VoiceRecord
from callboard.packs.writers_factory.voice.tournament.contestants import default_judge
from callboard.packs.writers_factory.voice.tournament.tournaments import (
    Tournaments,
    TournamentState,
)
from callboard.packs.writers_factory.workspace import Workspace, judge_on
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

ARCHIVE: Final = "content/Archive/Voice Bundle"
_PARAMETERS: Final = {
    "output_dir": f"str, default {DEFAULT_PATH!r}",
    "confirmed": "bool, default False: the writer wants a locked voice remade",
}


class NoWinner(Conflict):
    """A bundle was wanted before the writer chose a passage."""

    code = "no_winner"


class VoiceLocked(Conflict):
    """The voice is locked, and the writer has not said that it may change."""

    code = "voice_locked"


class BundleRun:
    """The choreography that writes a voice bundle."""

    summary = "Write the voice bundle from the passage that won the tournament."

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check that there is a winner, and that the voice may still change."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        if unknown:
            raise InvalidInput(
                f"A bundle cannot be made with {', '.join(unknown)}",
                fix=f"It takes: {', '.join(_PARAMETERS)}.",
            )
        workspace = Workspace(studio)
        state = VoiceRecord(workspace).read()
        if not state.winner:
            raise NoWinner(
                "There is no winner to make a voice bundle from",
                fix="Hold a tournament and choose a variant first.",
            )
        if state.locked and raw.get("confirmed") is not True:
            raise VoiceLocked(
                "The voice is locked", fix="Only the writer can have it remade, by confirming it."
            )
        path = workspace.files.resolve(str(raw.get("output_dir") or "").strip() or DEFAULT_PATH)
        if path == ".":
            raise InvalidInput("The bundle needs a folder of its own", fix=f"Try {DEFAULT_PATH}.")
        fields = Bible(workspace).protagonist
        args: dict[str, Json] = {
            "path": path,
            "tournament_id": state.tournament_id,
            "winner": state.winner,
            "judge": default_judge(workspace),
            "arc": [_told(fields.get(f"arc_{n}")) for n in ("start", "midpoint", "resolution")],
        }
        return Prepared(args, title=f"Voice bundle: {state.winner}"[:80])

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Describe the voice and write its files."""
        return await _Bundling(Stage(studio, run)).make()


class _Bundling:
    """A bundle while it is made."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workspace = Workspace(stage.studio)
        self.record = VoiceRecord(self.workspace)
        self.shelf = Tournaments(self.workspace)
        self.args: dict[str, Any] = stage.run.args

    async def make(self) -> Json:
        chosen = self.chosen()
        told = await describe_voice(judge_on(self.stage, str(self.args["judge"])), chosen)
        version = int(await self.stage.step("version", self.version))
        archived = await keep_in_run(
            self.stage, "archived", "voice bundle before", lambda: self.archive(version)
        )
        sheet = base_sheet().extended(
            [
                *rejected_traits(chosen.winner, chosen.rejected),
                *told.avoid,
                *noted_traits(chosen.tournament.notes),
            ]
        )
        content = BundleContent(
            tournament=chosen.tournament,
            winner=chosen.winner,
            advice=told.advice,
            sheet=sheet,
            domains=told.domains,
            evolution=told.evolution,
            arc=chosen.arc,
            version=version,
        )
        data = content.data()
        texts: dict[str, Json] = {
            GOLD_FILE: content.gold(),
            SHEET_FILE: content.sheet_text(),
            GUIDE_FILE: content.guide(),
            DATA_FILE: json.dumps(data, indent=2, ensure_ascii=False) + "\n",
        }
        written = await keep_in_run(
            self.stage, "written", "voice bundle", lambda: self.write(texts)
        )
        await keep_in_run(self.stage, "stored", "voice", lambda: self.store(version))
        return {
            "path": self.args["path"],
            "files": written,
            "version": version,
            "archived": archived,
            "summary": data["summary"],
            "warning": told.warning,
        }

    def chosen(self) -> Chosen:
        tournament = self.shelf.get(str(self.args["tournament_id"]))
        winner = next(v for v in tournament.variants if v.id == self.args["winner"])
        rejected = tuple(each for each in tournament.usable if each.id != winner.id)
        return Chosen(tournament, winner, rejected, Arc(*self.args["arc"]))

    def version(self) -> int:
        return self.record.read().bundle_version + 1

    def archive(self, version: int) -> Json:
        """Keep what stands in the folder now, as the version before this one."""
        files, path = self.workspace.files, str(self.args["path"])
        kept: list[Json] = []
        for name in FILES:
            if files.sha256(f"{path}/{name}") is None:
                continue
            target = f"{ARCHIVE}/v{version - 1}/{name}"
            files.write_text(target, files.read_text(f"{path}/{name}").text)
            kept.append(target)
        return kept

    def write(self, texts: dict[str, str]) -> Json:
        path = str(self.args["path"])
        return [
            self.workspace.files.write_text(f"{path}/{n}", text).path for n, text in texts.items()
        ]

    async def store(self, version: int) -> Json:
        """Remember where the bundle is; a voice that was remade is to be locked again."""
        await self.record.change(
            bundle_path=self.args["path"], bundle_version=version, locked=False, locked_at=0
        )
        await self.shelf.mark(str(self.args["tournament_id"]), state=TournamentState.BUNDLED)
        return None


def _told(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(str(each) for each in cast("list[object]", value))
    return str(value or "")
