"""What the Foreman's own code does with an agent's words: no model can ask for one by its name.

Actions a project adds are carried out by the first two; prose a reply offers, by the third.
"""

from typing import Final

from callboard.core.errors import InvalidInput
from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Cause, Done
from callboard.packs.writers_factory.manuscript import require_proven
from callboard.packs.writers_factory.memory.operations import keep_decision
from callboard.packs.writers_factory.revision.editing.proposals import EditProposal
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.workspace import Workspace

_CONTENT: Final = "content/"


@operation(who=(AGENT,))
async def kb_save(
    workspace: Workspace,
    cause: Cause,
    action: str,
    category: str,
    key: str,
    value: str,
    source: str = "",
) -> Done:
    """Keep what an action of the project's own says."""
    return await keep_decision(workspace, cause, category, key, value, source)


@operation(who=(AGENT,))
async def file_write(workspace: Workspace, action: str, path: str, content: str) -> Done:
    """Write a note of a project's own action below `content/`."""
    if not path.startswith(_CONTENT) or not path.endswith(".md"):
        raise InvalidInput(
            f"{action} may not write {path!r}", fix=f"Name a Markdown file below {_CONTENT}."
        )
    files, text = workspace.files, f"{content}\n"
    before = files.read_text(path).text if files.sha256(path) is not None else None
    await require_proven(workspace.studio, path, text, accepted=before, force=False)
    files.write_text(path, text)
    return Done(f"wrote {path}", {"path": path})


@operation(who=(AGENT,))
async def propose_text(revision: Revision, cause: Cause, target: str, text: str) -> EditProposal:
    """Keep prose a reply offers, for the writer to look at."""
    source = f"conversation:{cause.run_id}"
    return await revision.proposals.propose(target, text, mode=cause.mode, source=source)


HANDED: Final = frozenset({kb_save.name, file_write.name, propose_text.name})
