"""Issues: what work leaves behind for the human, numbered, linked to receipts, and mirrored.

The database is the truth; `.callboard/issues/issues.json` is a readable copy of it.
"""

import asyncio
import json
import logging
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from callboard.core.canonical import Json
from callboard.core.clock import Clock, iso
from callboard.core.errors import InvalidInput
from callboard.core.events import IssueChanged
from callboard.core.vocabulary import Issue, IssueDraft, IssueStatus
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.files import locked_folder, write_atomically
from callboard.store.journal.events import append_event
from callboard.store.journal.issues import (
    IssueFilter,
    add_receipts,
    find_issue,
    has_issue,
    insert_issue,
    issues_revision,
    list_issues,
    load_issue,
    set_status,
)
from callboard.store.reading import FileRefused, open_bounded
from callboard.tools import list_receipts, read_receipt

_log = logging.getLogger(__name__)


def issue_to_json(issue: Issue) -> dict[str, Json]:
    """Return the shape of an issue: times in UTC, the source as an object of its own."""
    source = issue.source
    return {
        "id": issue.id,
        "title": issue.title,
        "body": issue.body,
        "status": issue.status.value,
        "priority": issue.priority.value,
        "tags": list(issue.tags),
        "source": {
            "kind": source.kind.value,
            "run_id": source.run_id,
            "session_id": source.session_id,
            "step_id": source.step_id,
        },
        "receipt_ids": list(issue.receipt_ids),
        "created_at": iso(issue.created_at),
        "updated_at": iso(issue.updated_at),
    }


_MAX_TITLE_CHARS: Final = 300
_HEAD_BYTES: Final = 100
_REVISION: Final = re.compile(rb'\{\s*"revision": (\d{1,18}),')

T = TypeVar("T")


class Issues:
    """The issues of a project."""

    def __init__(self, database: Database, clock: Clock, mirror: Path | None) -> None:
        """Take the store and where the copy is kept; None keeps no copy."""
        self._database = database
        self._clock = clock
        self._mirror = mirror
        # The revision the copy is known to show; None until somebody has looked.
        self._mirrored: int | None = None

    async def add(self, draft: IssueDraft) -> Issue:
        """Leave an issue behind; one with the same key is returned as it is."""
        checked = _checked(draft)
        return await self._write(lambda connection: self.add_with(connection, checked))

    def add_with(self, connection: Connection, draft: IssueDraft) -> Issue:
        """Do the same inside a write transaction of the caller, such as that of a step."""
        now = self._clock.now_ms()
        issue, is_new = insert_issue(connection, _checked(draft), now)
        if is_new:
            self._tell(connection, issue, now)
        return issue

    def get(self, number: int) -> Issue:
        """Return an issue by its number."""
        return self._database.read(lambda connection: load_issue(connection, number))

    def find(self, key: str) -> Issue | None:
        """Return the issue that was left behind under a key."""
        return self._database.read(lambda connection: find_issue(connection, key))

    def exists(self, number: int) -> bool:
        """Say whether there is an issue with this number."""
        return self._database.read(lambda connection: has_issue(connection, number))

    def list(self, wanted: IssueFilter | None = None) -> list[Issue]:
        """Return issues, newest first."""
        return self._database.read(lambda connection: list_issues(connection, wanted))

    async def close(self, number: int) -> Issue:
        """Say that an issue is dealt with; saying it again changes nothing."""
        return await self._set(number, IssueStatus.CLOSED)

    async def reopen(self, number: int) -> Issue:
        """Take an issue up again."""
        return await self._set(number, IssueStatus.OPEN)

    async def link_receipts(self, number: int, receipt_ids: Iterable[str]) -> Issue:
        """Link receipts to an issue; every one of them must exist."""
        wanted = tuple(receipt_ids)

        def work(connection: Connection) -> Issue:
            for receipt_id in wanted:
                read_receipt(connection, receipt_id)
            return self.link_with(connection, number, wanted)

        return await self._write(work)

    async def link_session(self, number: int, session_id: str) -> Issue:
        """Link all receipts of a session to an issue."""

        def work(connection: Connection) -> Issue:
            receipts = list_receipts(connection, session_id=session_id)
            return self.link_with(connection, number, [each.id for each in receipts])

        return await self._write(work)

    def link_with(self, connection: Connection, number: int, receipt_ids: Iterable[str]) -> Issue:
        """Link receipts inside a write transaction of the caller."""
        now = self._clock.now_ms()
        load_issue(connection, number)
        fresh = add_receipts(connection, number, receipt_ids, now)
        issue = load_issue(connection, number)
        if fresh:
            self._tell(connection, issue, now)
        return issue

    def sync_mirror(self) -> bool:
        """Bring the copy up to date if anything changed; say whether it was written."""
        if self._mirror is None:
            return False
        revision = self._database.read(issues_revision)
        if self._mirrored is None:
            self._mirrored = _revision_of(self._mirror)
        if revision == self._mirrored:
            return False
        try:
            self._mirrored = self._copy(self._mirror)
        except (OSError, FileRefused) as error:
            # The copy may lag behind; the issues themselves are safe.
            _log.warning("the copy of the issues was not written: %s", error)
            return False
        return True

    def _copy(self, path: Path) -> int:
        kept = path.parent.parent
        with locked_folder(path.parent, within=kept):
            # Read while the folder is held: nobody writes an older state over a newer one.
            revision, issues = self._database.read(
                lambda connection: (issues_revision(connection), list_issues(connection))
            )
            content = {"revision": revision, "issues": [issue_to_json(each) for each in issues]}
            text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
            write_atomically(path, text.encode("utf-8", "backslashreplace"), within=kept)
        return revision

    async def _set(self, number: int, status: IssueStatus) -> Issue:
        def work(connection: Connection) -> Issue:
            now = self._clock.now_ms()
            load_issue(connection, number)
            has_changed = set_status(connection, number, status, now)
            issue = load_issue(connection, number)
            if has_changed:
                self._tell(connection, issue, now)
            return issue

        return await self._write(work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        result = await self._database.write(work)
        await asyncio.to_thread(self.sync_mirror)
        return result

    def _tell(self, connection: Connection, issue: Issue, at: int) -> None:
        body = IssueChanged(issue.id, issue.title, issue.status.value, issue.source.kind.value)
        append_event(
            connection,
            body,
            at=at,
            session_id=issue.source.session_id,
            run_id=issue.source.run_id,
            step_key=issue.source.step_id,
        )


def _checked(draft: IssueDraft) -> IssueDraft:
    title = " ".join(draft.title.split())
    if not title or len(title) > _MAX_TITLE_CHARS:
        raise InvalidInput(
            f"The title of an issue has 1 to {_MAX_TITLE_CHARS} characters, not {len(title)}",
            fix="Put the rest into its body.",
        )
    return replace(draft, title=title)


def _revision_of(path: Path) -> int:
    """Return the revision a copy shows; what is not a copy of ours shows none."""
    try:
        opened = open_bounded(path, within=path.parent.parent, follow_links=False)
    except (OSError, FileRefused):
        return 0
    with os.fdopen(opened, "rb") as stream:
        # It stands first: all the issues need not be read to find it.
        found = _REVISION.match(stream.read(_HEAD_BYTES))
    return int(found[1]) if found is not None else 0
