"""Issues: what work leaves behind for the human."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Paged, Wanted, promise
from callboard.core.vocabulary import (
    Issue,
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    IssueStatus,
)
from callboard.operations import runtime as operations
from callboard.store.journal.issues import IssueFilter
from callboard.studio.issues import issue_to_json

router = APIRouter(prefix="/issues", tags=["issues"])

Number = Annotated[int, Path(ge=1, le=2**53, description="The issue's number.")]


IssueShape = promise(
    "IssueShape", "One issue.", Issue, source=Entry, created_at=str, updated_at=str
)


class NewIssue(Wanted):
    """An issue the user writes down."""

    title: str = Field(min_length=1, max_length=300)
    body: str = ""
    priority: IssuePriority = IssuePriority.NORMAL
    tags: list[str] = Field(default_factory=list[str], max_length=50)


class IssueChange(Wanted):
    """What may be changed about an issue."""

    status: IssueStatus


@router.get("", response_model=list[IssueShape])
async def list_issues(
    studio: OpenStudio,
    page: Paged,
    status: IssueStatus | None = None,
    kind: IssueKind | None = None,
    tag: str | None = None,
    run_id: str | None = None,
    session_id: str | None = None,
) -> list[Entry]:
    """List issues, newest first."""
    wanted = IssueFilter(status, kind, tag, run_id, session_id)
    return [issue_to_json(each) for each in page.cut(studio.issues.list(wanted))]


@router.post("", status_code=201, response_model=IssueShape)
async def add_issue(studio: OpenStudio, wanted: NewIssue) -> Entry:
    """Write down an issue of one's own."""
    draft = IssueDraft(
        title=wanted.title,
        body=wanted.body,
        priority=wanted.priority,
        tags=tuple(wanted.tags),
        source=IssueSource(IssueKind.FINDING),
    )
    return issue_to_json(await operations.runtime(studio).perform(operations.add_issue, draft))


@router.get("/{number}", response_model=IssueShape)
async def show_issue(studio: OpenStudio, number: Number) -> Entry:
    """Show one issue."""
    return issue_to_json(studio.issues.get(number))


@router.patch("/{number}", response_model=IssueShape)
async def change_issue(studio: OpenStudio, number: Number, wanted: IssueChange) -> Entry:
    """Close an issue, or open it again."""
    is_over = wanted.status is IssueStatus.CLOSED
    act = operations.close_issue if is_over else operations.reopen_issue
    return issue_to_json(await operations.change_issue(studio, act, number))
