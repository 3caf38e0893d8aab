"""Graph: the sections and the ways between them, as DOT for eyes and as JSON for programs."""

from callboard.core.canonical import Json, canonical_json
from callboard.core.codec import encode
from callboard.packs.questfoundry.book.model import Book, KeyTest, SectionKind
from callboard.packs.questfoundry.book.playing import is_end, needs
from callboard.packs.questfoundry.formats.naming import ordered
from callboard.packs.questfoundry.formats.prose import label_of, one_line

_SHAPES = {
    SectionKind.NORMAL: "box",
    SectionKind.HUB: "hexagon",
    SectionKind.GATEWAY: "diamond",
    SectionKind.TERMINAL: "doubleoctagon",
}


def dot_of(book: Book) -> bytes:
    """Return the book as a graph in DOT; a place that is not written stands there dotted."""
    names = {each.id: f"n{number}" for number, each in enumerate(ordered(book))}
    told = ["digraph book {", f"  label={_quoted(book.title)};", "  start [shape=point];"]
    for section in ordered(book):
        bold = ", penwidth=2" if section.keystone else ""
        label = _quoted(section.title or section.id)
        told.append(f"  {names[section.id]} [label={label}, shape={_SHAPES[section.kind]}{bold}];")
    edges: list[str] = []
    for section in ordered(book):
        for choice in section.choices:
            if choice.to not in names:
                names[choice.to] = f"m{len(names)}"
                told.append(f"  {names[choice.to]} [label={_quoted(choice.to)}, style=dotted];")
            wanted = " ".join(_told(each) for each in needs(book, choice))
            label = _quoted(label_of(choice) + (f" ({wanted})" if wanted else ""))
            style = ", style=dashed" if wanted else ""
            edges.append(f"  {names[section.id]} -> {names[choice.to]} [label={label}{style}];")
    if book.start in names:
        told.append(f"  start -> {names[book.start]};")
    return ("\n".join([*told, *edges, "}"]) + "\n").encode()


def graph_json_of(book: Book) -> bytes:
    """Return the book's shape as nodes and edges, without its prose."""
    nodes: list[Json] = [
        {
            "id": each.id,
            "title": each.title,
            "kind": each.kind.value,
            "keystone": each.keystone,
            "ends": is_end(each),
            "effects": encode_all(each.effects),
        }
        for each in ordered(book)
    ]
    edges: list[Json] = [
        {
            "id": choice.id,
            "from": section.id,
            "to": choice.to,
            "label": choice.label,
            "gateway": choice.gateway,
            "needs": encode_all(needs(book, choice)),
            "effects": encode_all(choice.effects),
        }
        for section in ordered(book)
        for choice in section.choices
    ]
    whole: Json = {"title": book.title, "start": book.start, "nodes": nodes, "edges": edges}
    return (canonical_json(whole) + "\n").encode()


def encode_all(values: tuple[object, ...]) -> list[Json]:
    """Return some values as JSON holds them."""
    return [encode(each) for each in values]


def _told(test: KeyTest) -> str:
    return f"not {test.key}" if test.negated else test.key


def _quoted(text: str) -> str:
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
