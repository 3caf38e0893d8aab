"""A conference: three agents look at one evidence set, apart from each other."""

from typing import Any

from callboard.choreography import Stage, choreography

ROLES = ("planner", "editor", "critic")


@choreography
async def conference(stage: Stage, question: str, query: str) -> Any:
    """Ask three roles the same question about the same evidence, then sum up."""
    evidence = await stage.tool("evidence", "search_text", text=query)

    async def view(branch: Stage, role: str) -> str:
        reply = await branch.ask("view", role, question=question, evidence=evidence)
        return reply.text

    views = await stage.parallel({role: lambda s, r=role: view(s, r) for role in ROLES})
    summary = await stage.ask("summary", "chief", question=question, views=views)
    return {"views": views, "summary": summary.text, "receipt": evidence.receipt_id}
