"""A guard over the sources: files are opened through `store.reading`, or it is said why not.

A file that a project brings may be a pipe, a device, a link out, or endless. Whoever adds a read
either uses `read_bounded` (or a `ProjectFiles`), or adds its place here with a reason.
"""

import ast
from pathlib import Path

import callboard

SRC = Path(callboard.__file__).parent
READS = {"read_text", "read_bytes", "open", "fdopen"}
OPENERS = {"open", "os.open", "io.open", "Path.open"}

PACKAGE_DATA = "a file of the installed package itself"
ALLOWED = {
    "packs/writers_factory/exchange/folders.py": "writes what it unpacks, into a new folder",
    # Through the guarded doors.
    "store/reading.py": "the helper itself; opens for all others, name by name and without links",
    "store/files.py": "writes, and locks folders; reads through the helper",
    "store/pending.py": "writes a file it has just made with O_EXCL",
    # What nobody but the user or the system puts there.
    "cli/table.py": "the commands of packs, remembered in the user's own cache",
    "cli/arguments.py": "named on the command line, where a pipe is welcome; bounded in size",
    "models/credentials/encrypted_file.py": "the system's own machine id",
    "models/providers/weights.py": "weights and archives in the user's cache, compared by hash",
    "library/binding/volume.py": "what pandoc made in a fresh folder",
    # Locks, keys and tapes, opened without following links where they are opened.
    "store/sqlite/liveness.py": "lock files: opened with O_NOFOLLOW and O_NONBLOCK, never read",
    "store/ledger/book.py": "the user's own head: O_NOFOLLOW and O_NONBLOCK, one line",
    "tools/audit/folder.py": "opens a folder to make it durable",
    "tools/audit/signing.py": "the key: O_NOFOLLOW, a hundred bytes at most",
    "models/providers/plain_file.py": "models' files: beneath a folder, no links, bounded",
    # Streams over a descriptor that the helper opened.
    "cli/handlers/detaching.py": "fdopen of `open_emptied`",
    "studio/issues.py": "fdopen of `open_bounded`, a hundred bytes",
    "packs/writers_factory/bible/files/shelf.py": "fdopen of `open_bounded`, two hundred bytes",
    # The package's own data, told apart from a project's by `importlib.resources` elsewhere.
    "studio/project.py": "holds a folder that is being made",
    "cli/handlers/initiating.py": "a pack's sample, installed with it",
    "prompts/tokens.py": PACKAGE_DATA,
    "prompts/layers.py": PACKAGE_DATA,
    "replies/evidence/rules.py": PACKAGE_DATA,
    "packs/alfred/page/page.py": PACKAGE_DATA,
}


def raw_reads(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the calls in a module that open or read a file by themselves, with their lines."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            found.append((node.lineno, "open"))
        if not isinstance(called, ast.Attribute) or called.attr not in READS:
            continue
        owner = ast.unparse(called.value)
        if called.attr in ("open", "fdopen") and owner not in ("os", "io") and not _opens(node):
            continue
        if called.attr in ("read_text", "read_bytes") and _is_guarded(owner):
            continue
        found.append((node.lineno, f"{owner}.{called.attr}"))
    return found


def _opens(call: ast.Call) -> bool:
    """Say whether `x.open(...)` opens a file: it has no argument, or a mode for its first."""
    if not call.args:
        return isinstance(call.func, ast.Attribute) and not call.keywords and _is_path(call.func)
    first = call.args[0]
    is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return is_text and set(first.value) <= set("rwxab+t")  # type: ignore[attr-defined, arg-type]


def _is_path(called: ast.Attribute) -> bool:
    return "path" in ast.unparse(called.value).lower() or "file" in ast.unparse(called.value)


def _is_guarded(owner: str) -> bool:
    """Say whether reads of this object are a `ProjectFiles` or `importlib.resources`."""
    return (
        owner == "self"
        or owner.endswith(("files", "_files"))
        or owner.startswith(("files(", "folder.joinpath("))
    )


def modules() -> dict[str, list[tuple[int, str]]]:
    return {
        str(path.relative_to(SRC)): raw_reads(ast.parse(path.read_text("utf-8")))
        for path in sorted(SRC.rglob("*.py"))
    }


def test_no_module_reads_files_by_itself_without_a_reason() -> None:
    found = modules()
    assert len(found) > 500, "the guard looked at nothing"
    reading = {name: calls for name, calls in found.items() if calls}
    unexplained = {name: calls for name, calls in reading.items() if name not in ALLOWED}
    unexplained = {
        name: [call for call in calls if not _reads_package(name, call[0])]
        for name, calls in unexplained.items()
    }
    assert not {name: calls for name, calls in unexplained.items() if calls}
    assert set(ALLOWED) <= set(reading), "an exception that is not needed any more"


def _reads_package(name: str, line: int) -> bool:
    """Say whether a read a few lines long begins at the package's own resources."""
    lines = (SRC / name).read_text("utf-8").splitlines()
    near = "".join(lines[max(0, line - 4) : line + 3])
    return "joinpath(" in near and "from importlib.resources import" in "\n".join(lines)


def test_the_guard_sees_what_it_is_for() -> None:
    caught = (
        "open('x')",
        "Path('x').read_text()",
        "path.read_bytes()",
        "(root / 'x').read_text('utf-8')",
        "path.open('rb')",
        "file.open()",
        "os.open(path, 0)",
        "io.open(path)",
        "with log.open('w') as f: pass",
    )
    for text in caught:
        assert raw_reads(ast.parse(text)), text
    passed = (
        "context.files.read_text(path)",
        "self._files.read_bytes(p)",
        "Studio.open(root)",
        "files('a').joinpath('b').read_text()",
        "SqliteDatabase.open(project.database)",
    )
    for text in passed:
        assert not raw_reads(ast.parse(text)), text
