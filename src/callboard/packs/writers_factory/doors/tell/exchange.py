"""What is sent out and taken in, in words."""

from collections.abc import Mapping

from callboard.cli.output import clean, counted, echo, echo_facts, echo_json, one_line, remark
from callboard.packs.writers_factory.doors.tell.revision import echo_files
from callboard.packs.writers_factory.exchange.arrival import Import
from callboard.packs.writers_factory.exchange.export import Export, ExportPreview
from callboard.packs.writers_factory.exchange.pages import stands_alone
from callboard.packs.writers_factory.exchange.title_page import TitlePage


def title_page_report(page: TitlePage, *, as_json: bool) -> None:
    """Show what is known of the title page, and what is not."""
    if as_json:
        echo_json({"title_page": page.to_json(), "missing": list(page.missing())})
        return
    echo_facts(
        [
            ("title", page.title),
            ("author", page.author),
            ("heads the pages", page.running_name),
            ("contact", "; ".join(page.contact)),
            ("language", page.language),
            ("date", page.date),
            ("cover", page.cover or "set in type"),
            ("cover shows", page.cover_description),
        ]
    )
    for each in page.missing():
        remark(clean(f"  {each}"))


def chapters_report(titles: Mapping[int, str], *, as_json: bool) -> None:
    """Show what the chapters are called."""
    if as_json:
        echo_json({"chapters": {str(number): title for number, title in titles.items()}})
        return
    for number, title in sorted(titles.items()):
        echo(clean(f"{number}  {title}"))


def export_report(made: Export, *, as_json: bool) -> None:
    """Show where the manuscript was written."""
    if as_json:
        echo_json({"export": made.to_json()})
    else:
        echo_files(made.to_json())


def export_preview_report(seen: ExportPreview, *, as_json: bool) -> None:
    """Show what an export would write."""
    if as_json:
        echo_json({"preview": seen.to_json()})
        return
    for path in seen.paths:
        kept = "  (there is one: it would be kept as a backup)" if path in seen.replaced else ""
        echo(clean(f"{path}{kept}"))
    echo_facts(
        [
            ("title", seen.title),
            ("author", seen.author),
            ("head of every page", seen.running_head),
            ("chapters", "; ".join(seen.chapters)),
            ("words", str(seen.word_count)),
        ]
    )
    for each in seen.missing:
        remark(clean(f"  {each}"))
    if seen.left_out:
        remark(f"  not written yet: {', '.join(seen.left_out)}")
    remark("Nothing was written.")


def import_report(found: Import, *, as_json: bool) -> None:
    """Show the chapters of an import, what was not understood, and what can be done about it."""
    if as_json:
        echo_json({"import": found.to_json()})
        return
    for line in [] if found.is_undone else _chapters(found):
        echo(clean(line))
    for each in found.problems:
        remark(clean(f"  {each}"))
    if found.is_undone:
        echo(clean(f"The import of {found.name} was taken back."))
        return
    size = f"{counted(len(found.scenes), 'scene')}, {counted(found.word_count, 'word')}"
    remark(clean(f"{size}; split by {found.split_by}"))
    for old, new in found.moved:
        remark(clean(f"  {old} {'went' if found.id else 'would go'} to {new}"))
    if found.id:
        remark("Take it back: callboard factory import --undo")
    else:
        remark("Nothing was written. Take it in: the same with --write")


def _chapters(found: Import) -> list[str]:
    told: list[str] = []
    for row in found.scenes:
        chapter, _, number = row.scene_id.partition("-")
        if number == "sc1":
            same = [each for each in found.scenes if each.scene_id.startswith(f"{chapter}-")]
            words = sum(each.word_count for each in same)
            title = row.chapter_title
            name = title if stands_alone(title) else f"Chapter {chapter.removeprefix('ch')}"
            name += f": {title}" if title and name != title else ""
            size = f"{counted(len(same), 'scene')}, {counted(words, 'word')}"
            told.append(f"{name}  {size}: “{one_line(row.opening)}”")
    return told
