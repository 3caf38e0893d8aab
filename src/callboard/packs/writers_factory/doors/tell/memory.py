"""What is remembered: decisions, notebooks, contradictions, the graph."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from callboard.cli.output import (
    clean,
    counted,
    echo,
    echo_facts,
    echo_json,
    echo_table,
    moment,
    remark,
)
from callboard.core.canonical import Json, compact_json, plain
from callboard.knowledge.fact_rows import KBEntry
from callboard.knowledge.graph import Node, Subgraph
from callboard.packs.writers_factory.action import Done
from callboard.packs.writers_factory.bible.filings import Filing
from callboard.packs.writers_factory.memory import (
    ConflictRecord,
    Notebook,
    NotebookPassage,
    TimelineItem,
)


def decisions_report(entries: Sequence[KBEntry], *, as_json: bool) -> None:
    """List what was decided."""
    if as_json:
        echo_json({"decisions": [plain(asdict(each)) for each in entries]})
    elif not entries:
        remark("Nothing has been decided yet.")
    else:
        rows = [(e.category, e.key, e.state.value, e.source, e.value) for e in entries]
        echo_table(("CATEGORY", "KEY", "STATE", "SOURCE", "VALUE"), rows)


def decision_report(entry: KBEntry, before: str | None, *, as_json: bool) -> None:
    """Show a decision that was kept, and what it took the place of."""
    if as_json:
        echo_json({"decision": plain(asdict(entry)), "before": before})
        return
    echo(clean(f"Kept: {entry.category} {entry.key} = {entry.value}"))
    if before is not None and before != entry.value:
        remark(clean(f"Before: {before} (still in `callboard factory timeline`)"))
    remark(f"Forget it: callboard factory forget {entry.category} {entry.key}")


def timeline_report(items: Sequence[TimelineItem], *, as_json: bool) -> None:
    """List every decision with when and from where, also those that were replaced."""
    if as_json:
        echo_json({"timeline": [plain(asdict(each)) for each in items]})
    elif not items:
        remark("Nothing has been decided yet.")
    else:
        rows = [
            (
                moment(each.at),
                each.category,
                each.key,
                each.source,
                "" if each.is_current else "replaced",
                each.value,
            )
            for each in items
        ]
        echo_table(("WHEN", "CATEGORY", "KEY", "SOURCE", "", "VALUE"), rows)


def notebooks_report(
    notebooks: Sequence[Notebook], missing_roles: Sequence[str], *, as_json: bool
) -> None:
    """List the notebooks, and for what there is none."""
    if as_json:
        listed = [each.to_json() for each in notebooks]
        echo_json({"notebooks": listed, "missing_roles": list(missing_roles)})
    elif not notebooks:
        remark("No notebook yet: callboard factory notebook add ID FOLDER --role world_building")
    else:
        rows = [(each.id, each.role.value, each.path, each.title) for each in notebooks]
        echo_table(("NOTEBOOK", "ROLE", "FOLDER", "TITLE"), rows)
        if missing_roles:
            remark(f"None yet for {', '.join(missing_roles)}.")


def passages_report(passages: Sequence[NotebookPassage], *, as_json: bool) -> None:
    """Show what a notebook says near a question, without a model."""
    if as_json:
        shapes = [{**asdict(each), "place": each.place} for each in passages]
        echo_json({"passages": plain(shapes)})
    elif not passages:
        echo("not found in this notebook")
    for each in () if as_json else passages:
        echo(clean(f"{each.place}\n{each.text.strip()}\n"))


def answer_report(answer: dict[str, Any]) -> None:
    """Show what a notebook answered; its quotations stand in it."""
    echo(clean(str(answer["text"])))


def consolidated_report(report: dict[str, Any], conflicts: int) -> None:
    """Show what a consolidation changed."""
    names = ("entries_seen", "events_seen", "nodes_added", "nodes_updated", "edges_added")
    names = (*names, "conflicts", "skipped", "unread")
    echo_facts([(name.replace("_", " "), str(report[name])) for name in names])
    for warning in report["warnings"]:
        remark(clean(f"  warning: {warning}"))
    if conflicts:
        remark(f"{counted(conflicts, 'contradiction')} wait for you: callboard factory conflicts")


def conflicts_report(conflicts: Sequence[ConflictRecord], *, as_json: bool) -> None:
    """List contradictions."""
    if as_json:
        echo_json({"conflicts": [each.to_json() for each in conflicts]})
    elif not conflicts:
        remark("No contradiction waits for you; `callboard factory consolidate` looks for some.")
    for each in () if as_json else conflicts:
        conflict_report(each, as_json=False)
        echo("")


def conflict_report(conflict: ConflictRecord, *, as_json: bool) -> None:
    """Show one contradiction and how to decide it."""
    if as_json:
        echo_json({"conflict": conflict.to_json()})
        return
    decided = "open" if conflict.resolution is None else conflict.resolution.value
    echo(f"{conflict.id}  {conflict.kind.value}  {decided}")
    echo(clean(f"  {conflict.told}"))
    echo(clean(f"  known:    {compact_json(dict(conflict.existing))}"))
    echo(clean(f"  proposed: {compact_json(conflict.claim.to_json())}  ({conflict.origin})"))
    if conflict.is_open:
        remark(f"  Decide: callboard factory conflicts {conflict.id} --decision accept_new")


def central_report(found: Sequence[tuple[Node, float]], *, as_json: bool) -> None:
    """List the nodes everything hangs on."""
    if as_json:
        echo_json({"central": [{**node_shape(node), "rank": rank} for node, rank in found]})
    elif not found:
        remark("The graph is empty: callboard factory consolidate")
    else:
        rows = [(f"{rank:.4f}", node.type, node.id, node.name) for node, rank in found]
        echo_table(("RANK", "TYPE", "NODE", "NAME"), rows)


def path_report(way: Sequence[Node] | None, *, as_json: bool) -> None:
    """Show how two nodes hang together."""
    if as_json:
        echo_json({"path": None if way is None else [node_shape(each) for each in way]})
    elif way is None:
        echo("Nothing connects them.")
    else:
        echo(clean(" - ".join(f"{each.name} ({each.type})" for each in way)))


def around_report(part: Subgraph, *, as_json: bool) -> None:
    """Show what lies around a node."""
    edges = [{"src": e.src, "dst": e.dst, "type": e.type, "source": e.source} for e in part.edges]
    if as_json:
        echo_json({"nodes": [node_shape(each) for each in part.nodes], "edges": plain(edges)})
        return
    rows = [
        (each.type, each.id, each.name, compact_json(dict(each.attrs)) if each.attrs else "")
        for each in part.nodes
    ]
    echo_table(("TYPE", "NODE", "NAME", "FACTS"), rows)
    echo("")
    for each in part.edges:
        echo(clean(f"{each.src} --{each.type}--> {each.dst}"))


def exported_report(paths: Sequence[Path], *, as_json: bool) -> None:
    """Say where graph and contradictions were written."""
    if as_json:
        echo_json({"files": [str(each) for each in paths]})
    for path in () if as_json else paths:
        echo(str(path))


def node_shape(node: Node) -> dict[str, Json]:
    """Return a node for programs."""
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "aliases": list(node.aliases),
        "attrs": plain(dict(node.attrs)),
        "source": node.source,
    }


def filings_report(found: Sequence[Filing], *, as_json: bool) -> None:
    """List what the Foreman filed, the newest last."""
    if as_json:
        echo_json({"filings": [each.to_json() for each in found]})
        return
    if not found:
        remark("The Foreman has filed nothing yet.")
    for each in found:
        state = "  (taken back)" if each.is_taken_back else ""
        echo(clean(f"{moment(each.at)}  {each.told}{state}"))
    if any(not each.is_taken_back for each in found):
        remark("Take the last one back: callboard factory undo")


def taken_back_report(done: Done, *, as_json: bool) -> None:
    """Say what was taken back."""
    if as_json:
        echo_json({"taken_back": done.data})
    else:
        echo(clean(done.detail))
