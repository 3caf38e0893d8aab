"""The hands of the Foreman: its wishes, passed on to the rooms that can fulfil them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.checks import CheckResult
from callboard.packs.writers_factory.bible.decisions import take_decision, weakness_of
from callboard.packs.writers_factory.bible.judging import judge_template
from callboard.packs.writers_factory.bible.orders import Template
from callboard.packs.writers_factory.foreman.hands import (
    Answered,
    BibleHands,
    Hands,
    MemoryHands,
    Proposed,
    WorkHands,
    Written,
)
from callboard.packs.writers_factory.foreman.wiring.rooms import Rooms
from callboard.packs.writers_factory.memory import answer_from_notebook
from callboard.packs.writers_factory.revision.editing.requests import EditRequest
from callboard.packs.writers_factory.voice.tournament.tournaments import Pick

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_MOST_NOTEBOOKS: Final = 5
_SEARCHED: Final = 400


@dataclass(frozen=True, slots=True)
class RoomHands:
    """Fulfils wishes with the rooms of one project."""

    rooms: Rooms

    def hands(self) -> Hands:
        """Return everything the Foreman can do."""
        return Hands(
            BibleHands(
                self.write, self.claim, self.work_order, self.weakness, self.take, self.judge
            ),
            MemoryHands(
                self.save, self.ask_notebook, self.register, self.notebook_ids, self.recall
            ),
            WorkHands(
                self.advance, self.select_winner, self.select_variant, self.edit, self.propose
            ),
        )

    async def write(self, name: str, fields: Mapping[str, Json], source: str) -> Written:
        """Write fields into a template."""
        outcome = await self.rooms.bible.write(name, fields, source=source)
        return replace(_written(outcome.template, outcome.path), warnings=outcome.warnings)

    async def claim(self, name: str, status: str) -> Written:
        """Set what an agent claims of a template against its file."""
        await self.rooms.modes.update_status(name, status)
        template = self.rooms.bible.template(name)
        return _written(template, template.file_path)

    def work_order(self) -> Json:
        """Return what is there and what is missing."""
        return self.rooms.bible.work_order().to_json()

    def weakness(self, category: str, key: str, value: str) -> str | None:
        """Return why a decision would not hold as the field it belongs to."""
        failed = weakness_of(self.rooms.bible, category, key, value)
        return None if failed is None else _why(failed)

    async def take(self, category: str, key: str, value: str, source: str) -> Written | None:
        """Fill the field a decision belongs to."""
        outcome = await take_decision(self.rooms.bible, category, key, value, source=source)
        return None if outcome is None else _written(outcome.template, outcome.path)

    async def judge(self, stage: Stage, key: str, name: str) -> Written:
        """Have a template judged; what was judged before costs nothing."""
        await judge_template(stage, key, self.rooms.bible, name)
        template = self.rooms.bible.template(name)
        return _written(template, template.file_path)

    async def save(self, category: str, key: str, value: str, source: str) -> str:
        """Keep a decision."""
        entry = await self.rooms.memory.save_decision(category, key, value, source)
        return str(entry.id)

    async def ask_notebook(
        self, stage: Stage, key: str, notebook_id: str, question: str
    ) -> Answered:
        """Ask a notebook."""
        answer = await answer_from_notebook(
            stage, key, notebook_id, question, notebooks=self.rooms.notebooks
        )
        return Answered(answer.text, tuple(each.place for each in answer.citations))

    async def register(self, notebook_id: str, title: str, role: str, path: str) -> str:
        """Make a folder a notebook."""
        made = await self.rooms.notebooks.register(notebook_id, title, role, path)
        return f"notebook {made.id} ({made.role}) reads {made.path}"

    def notebook_ids(self) -> Sequence[str]:
        """Return the notebooks there are."""
        return [each.id for each in self.rooms.notebooks.list()]

    async def recall(self, words: str) -> Sequence[tuple[str, str]]:
        """Return what decisions and notebooks say near some words, decisions first."""
        wanted = {word.lower() for word in _WORD.findall(words)}
        found: list[tuple[int, str, str]] = []
        for each in self.rooms.memory.decisions(limit=_SEARCHED):
            text = f"{each.key.replace('_', ' ')}: {each.value}"
            near = len(wanted & {word.lower() for word in _WORD.findall(text)})
            if near:
                found.append((near, text, each.source or "decided"))
        found.sort(key=lambda row: -row[0])
        told = [(text, where) for _, text, where in found[:2]]
        for notebook in self.rooms.notebooks.list()[:_MOST_NOTEBOOKS]:
            passages = await self.rooms.notebooks.query(notebook.id, words, k=1)
            told += [(each.text, f"{notebook.id}, {each.place}") for each in passages]
        return told

    async def advance(self, to: str) -> str:
        """Go on to another mode, as far as an agent may."""
        moved = await self.rooms.modes.advance(to, by="agent")
        opens = f"; first: {moved.opens_with}" if moved.opens_with else ""
        return f"{moved.from_mode} to {moved.to_mode}{opens}"

    async def select_winner(self, agent: str, strategy: str, index: int | None, notes: str) -> Json:
        """Record which variant the writer chose."""
        status = self.rooms.voice.status()
        pick = Pick(agent=agent, strategy=strategy, variant_index=index)
        tournament = await self.rooms.voice.select_winner(status.tournament_id, pick, notes=notes)
        return {"tournament_id": tournament.id, "winner": tournament.winner}

    async def select_variant(self, scene_id: str, variant_id: str) -> Json:
        """Take a variant of a scene."""
        version = await self.rooms.scenes.select(scene_id, variant_id)
        return {"scene_id": scene_id, "variant_id": variant_id, "version": str(version)}

    async def edit(self, values: Mapping[str, Json], once: str) -> Json:
        """Replace one passage, however often it is asked for under one name."""
        request = EditRequest(
            target=str(values["target"]),
            new_text=str(values["new_text"]),
            reason=str(values["reason"]),
            old_text=values.get("old_text"),
            start=values.get("start"),
            end=values.get("end"),
            force=bool(values.get("force")),
        )
        return (await self.rooms.revision.edits.apply(request, once=once)).to_json()

    async def propose(self, target: str, text: str, mode: str, run_id: str) -> Proposed:
        """Keep prose for the writer to look at."""
        made = await self.rooms.revision.proposals.propose(
            target, text, mode=mode, source=f"conversation:{run_id}"
        )
        return Proposed(made.id, made.path, f"proposal {made.id} for {made.target} waits for you")


def _written(template: Template, path: str) -> Written:
    return Written(
        path,
        template.status.value,
        template.missing_fields,
        tuple((each.field, _why(each)) for each in template.failed_checks),
        template.name.value,
    )


def _why(check: CheckResult) -> str:
    reason = f"{check.reason.rstrip('.')}."
    return f"{reason} Instead: {'; '.join(check.alternatives)}." if check.alternatives else reason
