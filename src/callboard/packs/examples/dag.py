"""A DAG of six nodes; one fails, its dependants are skipped, the rest is done."""

from typing import Any

from callboard.choreography import Node, Stage, choreography, perform_dag


@choreography
async def dag(stage: Stage, path: str, missing: str = "Story/missing.md") -> Any:
    """Read two files, one of which is not there, and do what can still be done."""

    async def read(branch: Stage, _given: Any) -> Any:
        return await branch.tool("read", "read_file", path=path)

    async def read_missing(branch: Stage, _given: Any) -> Any:
        return await branch.tool("read", "read_file", path=missing)

    async def measure(branch: Stage, _given: Any) -> Any:
        return await branch.tool("measure", "text_stats", paths=[path])

    async def outline(branch: Stage, given: Any) -> Any:
        return await branch.ask("outline", "planner", source=given["read"])

    async def compare(branch: Stage, given: Any) -> Any:
        return await branch.ask("compare", "critic", one=given["read"], two=given["read_missing"])

    async def report(branch: Stage, given: Any) -> Any:
        return await branch.ask("report", "chief", parts=given)

    outcome = await perform_dag(
        stage,
        {
            "read": Node(read),
            "read_missing": Node(read_missing),
            "measure": Node(measure, after=["read"]),
            "outline": Node(outline, after=["read"]),
            "compare": Node(compare, after=["read", "read_missing"]),
            "report": Node(report, after=["compare", "outline"]),
        },
    )
    return outcome.to_json()
