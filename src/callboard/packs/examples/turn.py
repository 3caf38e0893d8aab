"""A turn: one message, two groups of parallel work, one answer."""

from typing import Any

from callboard.choreography import Stage, choreography


@choreography
async def turn(stage: Stage, message: str) -> Any:
    """Answer the user from what is in the project."""
    word = message.split()[-1].strip("?.!")
    gathered = await stage.parallel(
        {
            "files": lambda s: s.tool("list", "find_files", glob="**/*.md"),
            "quotes": lambda s: s.tool("search", "search_text", text=word),
        }
    )
    thoughts = await stage.parallel(
        {
            "facts": lambda s: s.ask("facts", "planner", message=message, found=gathered["quotes"]),
            "doubts": lambda s: s.ask("doubts", "critic", message=message, found=gathered["files"]),
        }
    )
    answer = await stage.ask("answer", "chief", message=stage.user(message), thoughts=thoughts)
    if len(answer.text.split()) < 3:
        more = await stage.ask_human("more", "I have little to say. What exactly do you need?")
        answer = await stage.ask("again/answer", "chief", message=more, thoughts=thoughts)
    return {"answer": answer.text}
