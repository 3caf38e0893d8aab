"""A book sent out and one taken in, at the command line."""

from pathlib import Path

from wf_cli_book import Book

from callboard.cli import exits

MANUSCRIPT = (
    "# Chapter 1: Dusk\n\nThe lamp was lit.\n\n#\n\nIt burned.\n\n# Chapter 2\n\nIt went out.\n"
)


def test_the_title_page_is_said_shown_and_printed(drafted: Book) -> None:
    book = drafted
    assert "author is not known" in book("title-page").err
    told = book("title-page", "--author", "Ann Lee", "--contact", "1 Quay", "--contact", "Saltmere")
    assert "heads the pages" in told.out and "1 Quay; Saltmere" in told.out
    assert "language is not known" in told.err and "author is not known" not in told.err
    assert "1  Low Water" in book("chapter", "1", "Low Water").out
    seen = book("export", "--dry-run")
    assert "Lee / SALT" in seen.out and "1: Low Water" in seen.out
    assert "Nothing was written." in seen.err and not (book.root / "content/Export").exists()
    book("export", "--format", "md")
    text = (book.root / "content/Export/Salt.md").read_text()
    assert text.startswith("# Salt\n\n*Ann Lee*\n\n## Chapter 1: Low Water\n\n")
    book("chapter", "1", "High Water")
    assert "what it held before: .callboard/" in book("export", "--format", "md").err
    assert book("chapter", "9", "x", code=exits.NOT_FOUND).err


def test_a_manuscript_is_shown_taken_in_and_taken_back(book: Book, tmp_path: Path) -> None:
    source = tmp_path / "old.md"
    source.write_text(MANUSCRIPT)
    seen = book("import", str(source))
    assert "Chapter 1: Dusk  2 scenes, 6 words" in seen.out and "  1 scene, 3 words" in seen.out
    assert "Nothing was written." in seen.err and not (book.root / "content/Manuscript").exists()
    made = book("import", str(source), "--write", "--json").json["import"]
    assert [each["scene_id"] for each in made["scenes"]] == ["ch1-sc1", "ch1-sc2", "ch2-sc1"]
    held = book.root / "content/Manuscript/Chapter_02/Scene_01.md"
    assert "It went out." in held.read_text()
    source.write_text(MANUSCRIPT.replace("went", "blew"))
    refused = book("import", str(source), "--write", code=exits.CONFLICT).err
    assert "ch2-sc1" in refused and "--replace" in refused and "--append" in refused
    assert "was taken back" in book("import", "--undo").out
    assert not held.exists() and source.exists()
    assert book("import", "--undo", code=exits.NOT_FOUND).err
    assert book("import", code=exits.USAGE).err
    listed = book.call("receipts", "list", "--json").json["receipts"]
    tools = {each["tool"] for each in listed}
    assert {"factory.import_delivery", "factory.undo_import"} <= tools
