"""The runs of the memory: consolidation, and a question to a notebook."""

from dataclasses import asdict
from typing import Final

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.memory.consolidation import Consolidate
from callboard.packs.writers_factory.memory.notebooks import answer_from_notebook

consolidate: Final = Consolidate()


@choreography
async def ask_notebook(stage: Stage, notebook_id: str, question: str) -> Json:
    """Answer a question from one notebook, with quotations that stand in it."""
    answer = await answer_from_notebook(stage, "ask", notebook_id, question)
    cited = [{**asdict(each), "place": each.place} for each in answer.citations]
    return {
        "notebook_id": answer.notebook_id,
        "text": answer.text,
        "is_found": answer.is_found,
        "citations": cited,
    }
