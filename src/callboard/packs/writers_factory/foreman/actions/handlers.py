"""The handlers: how each action is done, with the hands the Foreman was given.

A handler judges nothing that a room judges already: it passes values on and tells in one line what
came of it. What a room refuses becomes a failed result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.foreman.actions.executor import ActionCall, Handler
from callboard.packs.writers_factory.foreman.actions.jobs import start_run
from callboard.packs.writers_factory.foreman.actions.results import Done, short
from callboard.packs.writers_factory.foreman.hands import Hands, Written
from callboard.packs.writers_factory.foreman.state.session import ARCHITECT, VOICE_CALIBRATION
from callboard.packs.writers_factory.model import FOREMAN
from callboard.tools import ProjectFiles

CHALLENGE: Final = "CHALLENGE:"
_STATED: Final = {
    "user_stated": "writer_stated",
    "user": "writer_stated",
    "writer": "writer_stated",
}
_CONTENT: Final = "content/"
# Where a decision about a field of the Story Bible also fills it.
_FOUNDATION: Final = (ARCHITECT, VOICE_CALIBRATION)


class WeakDecision(InvalidInput):
    """A decision was to be kept that would not hold the story up."""

    code = "weak_decision"


@dataclass(frozen=True)
class Handlers:
    """All handlers over one pair of hands."""

    hands: Hands
    files: ProjectFiles

    def table(self) -> Mapping[str, Handler]:
        """Return the handlers by the names a catalogue uses."""
        return {
            "query_notebook": self.query_notebook,
            "save_decision": self.save_decision,
            "register_notebook": self.register_notebook,
            "advance_mode": self.advance_mode,
            "write_template": self.write_template,
            "update_status": self.update_status,
            "select_winner": self.select_winner,
            "select_variant": self.select_variant,
            "apply_edit": self.apply_edit,
            "start_run": start_run,
            "kb_save": self.kb_save,
            "file_write": self.file_write,
            "llm_prompt": llm_prompt,
        }

    async def query_notebook(self, call: ActionCall) -> Done:
        """Ask a notebook."""
        notebook_id = call.text("notebook_id")
        known = self.hands.memory.notebook_ids()
        if notebook_id not in known:
            raise NotFound(
                f"There is no notebook {notebook_id!r}",
                fix=f"Registered: {', '.join(known) or 'none'}. Register one, talk it through "
                "without a source, or go on with the least that is needed.",
                notebook_id=notebook_id,
            )
        found = await self.hands.memory.ask_notebook(
            call.stage, call.key, notebook_id, call.text("query")
        )
        sources = "; ".join(found.citations)
        told = f"{found.text} Sources: {sources}" if sources else found.text
        return Done(told, {"answer": found.text, "citations": list(found.citations)})

    async def save_decision(self, call: ActionCall) -> Done:
        """Keep a decision, unless it is one a template could not stand on."""
        return await self._save(call, call.text("category"))

    async def kb_save(self, call: ActionCall) -> Done:
        """Keep what an action of the project's own says."""
        category = call.text("category", str(call.spec.fixed.get("category", "structure")))
        return await self._save(call, category)

    async def _save(self, call: ActionCall, category: str) -> Done:
        key = call.text("key", call.spec.name)
        value = call.text("value") or short(dict(call.values))
        weakness = self.hands.bible.weakness(category, key, value)
        if weakness is not None:
            raise WeakDecision(
                f"{CHALLENGE} {weakness}",
                fix="Agree on a stronger one with the writer, then save that.",
                key=key,
            )
        source = _source(call)
        entry_id = await self.hands.memory.save(category, key, value, source)
        told = f"saved {category} {key}"
        written = None
        if call.mode in _FOUNDATION:
            written = await self.hands.bible.take(category, key, value, source)
        if written is not None:
            return self._about(written, told)
        return Done(told, {"id": entry_id, "source": source})

    async def register_notebook(self, call: ActionCall) -> Done:
        """Make a folder a notebook."""
        told = await self.hands.memory.register(
            call.text("notebook_id"), call.text("title"), call.text("role"), call.text("path")
        )
        return Done(told)

    async def advance_mode(self, call: ActionCall) -> Done:
        """Go on to another mode, if its gate is open; an agent can never override one."""
        return Done(await self.hands.work.advance(call.text("to").upper()))

    async def write_template(self, call: ActionCall) -> Done:
        """Write fields into a template and tell what it makes of them."""
        fields = cast("dict[str, Json]", call.values["content"])
        written = await self.hands.bible.write(call.text("template"), fields, _source(call))
        return self._about(written, f"wrote {written.path}")

    async def update_status(self, call: ActionCall) -> Done:
        """Take note of a claimed status; the files decide, and a difference is told."""
        claimed = call.text("status")
        written = await self.hands.bible.claim(call.text("template"), claimed)
        if written.status == claimed:
            return self._about(written, f"{call.text('template')} is {claimed}")
        told = f"{call.text('template')} is {written.status}, not {claimed}"
        done = self._about(written, told)
        return Done(done.detail, done.data, notices=(done.detail, *done.notices))

    def _about(self, written: Written, told: str) -> Done:
        missing = f"; missing {', '.join(written.missing)}" if written.missing else ""
        challenges = [f"{CHALLENGE} {name}: {reason}" for name, reason in written.failed]
        slips = [f"{each}." for each in written.warnings]
        detail = " ".join([f"{told}; {written.status}{missing}.", *challenges, *slips])
        data: dict[str, Json] = {
            "template": written.template,
            "path": written.path,
            "status": written.status,
            "missing": list(written.missing),
            "failed_checks": [{"field": name, "reason": why} for name, why in written.failed],
            "work_order": self.hands.bible.work_order(),
        }
        return Done(detail, data, notices=tuple(challenges))

    async def select_winner(self, call: ActionCall) -> Done:
        """Record the variant the writer chose."""
        index = call.values.get("variant_index")
        winner = await self.hands.work.select_winner(
            call.text("agent_id"), call.text("strategy"), index, call.text("voice_notes")
        )
        return Done(f"winner: {call.text('agent_id')}, {call.text('strategy')}", winner)

    async def select_variant(self, call: ActionCall) -> Done:
        """Take a variant of a scene."""
        chosen = await self.hands.work.select_variant(
            call.text("scene_id"), call.text("variant_id")
        )
        return Done(f"{call.text('variant_id')} is taken for {call.text('scene_id')}", chosen)

    async def apply_edit(self, call: ActionCall) -> Done:
        """Replace one passage of a scene."""
        made = await self.hands.work.apply_edit(dict(call.values), call.once)
        return Done(f"edited {call.text('target')}", made)

    async def file_write(self, call: ActionCall) -> Done:
        """Write a note of a project's own action below `content/`."""
        path = call.text("path", str(call.spec.fixed.get("path", "")))
        if not path.startswith(_CONTENT) or not path.endswith(".md"):
            raise InvalidInput(
                f"{call.spec.name} may not write {path!r}",
                fix=f"Name a Markdown file below {_CONTENT}.",
            )
        text = call.text("content") or short(dict(call.values), 10_000)
        self.files.write_text(path, f"{text}\n")
        return Done(f"wrote {path}", {"path": path})


def _source(call: ActionCall) -> str:
    """Return where what an action says comes from; what names nobody comes from its turn."""
    said = call.text("source")
    return _STATED.get(said.lower(), said) or f"conversation:{call.stage.run.id}"


async def llm_prompt(call: ActionCall) -> Done:
    """Ask the Foreman's model with a prompt of a project's own."""
    prompt = str(call.spec.fixed.get("prompt", call.spec.name))
    inputs: dict[str, Any] = {
        name: Content(str(value), f"action:{call.spec.name}", Trust.UNTRUSTED)
        for name, value in call.values.items()
    }
    reply = await call.stage.ask(f"{call.key}/ask", FOREMAN, prompt=prompt, **inputs)
    return Done(reply.text, {"prompt_id": reply.prompt_id})
