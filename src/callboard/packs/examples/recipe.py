"""A recipe: two tools gather, three agents work one after the other, code says when it is done."""

from collections import Counter
from typing import Any

from callboard.choreography import Reply, Stage, choreography


@choreography
async def recipe(stage: Stage, subject: str = "lighthouse", least_words: int = 25) -> Any:
    """Find what the project says about a subject and write a short scene from it."""
    found = await stage.tool("find", "search_text", text=subject)
    paths = Counter(match["path"] for match in found.payload["quotes"])
    if not paths:
        return {"scene": None, "reason": f"nothing in the project mentions {subject!r}"}
    path, _ = paths.most_common(1)[0]
    source = await stage.tool("read", "read_file", path=path)

    given: dict[str, Any] = {"subject": stage.user(subject), "source": source, "quotes": found}
    brief = await stage.ask("brief", "planner", **given)
    draft = await stage.ask("draft", "writer", brief=brief, max_tokens=250, **given)
    note = await stage.ask("note", "editor", draft=draft)

    def checks(reply: Reply) -> dict[str, bool]:
        return {
            "the_draft_is_long_enough": len(reply.text.split()) >= least_words,
            "the_draft_names_its_subject": subject.lower() in reply.text.lower(),
        }

    if not all(checks(draft).values()):
        # One more go, with the editor's advice; what is still not done then fails the run.
        draft = await stage.ask("again/draft", "writer", brief=note, max_tokens=250, **given)
    await stage.done_when("done", **checks(draft), the_editor_has_answered=bool(note.text.strip()))
    return {"scene": draft.text, "note": note.text, "source": path}
