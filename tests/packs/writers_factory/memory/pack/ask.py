"""A question to a notebook, as one run."""

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.memory import answer_from_notebook


@choreography
async def ask(stage: Stage, notebook: str, question: str) -> Json:
    """Answer a question from a notebook."""
    told = await answer_from_notebook(stage, "q", notebook, question)
    return {
        "text": told.text,
        "trust": told.content().trust.name,
        "citations": [{"path": each.path, "quote": each.quote} for each in told.citations],
    }
