"""A recipe: two tools gather, three agents work one after the other, code says when it is done."""

from typing import Any

from callboard.choreography import Stage, choreography


@choreography
async def recipe(stage: Stage, subject: str = "lighthouse", least_words: int = 30) -> Any:
    """Find what the project says about a subject and write a short scene from it."""
    found = await stage.tool("find", "search_text", text=subject)
    paths = [match["path"] for match in found.payload["quotes"]]
    if not paths:
        return {"scene": None, "reason": f"nothing in the project mentions {subject!r}"}
    source = await stage.tool("read", "read_file", path=paths[0])

    brief = await stage.ask("brief", "planner", subject=subject, source=source)
    draft = await stage.ask("draft", "writer", subject=subject, brief=brief, source=source)
    note = await stage.ask("note", "editor", draft=draft)

    await stage.done_when(
        "done",
        the_draft_is_long_enough=len(draft.text.split()) >= least_words,
        the_draft_names_its_subject=subject.lower() in draft.text.lower(),
        the_editor_has_answered=bool(note.text.strip()),
    )
    return {"scene": draft.text, "note": note.text, "source": paths[0]}
