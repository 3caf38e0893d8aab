"""Events of a run as lines, up to now or until it is over."""

import time
from collections.abc import Iterator
from typing import Final

from callboard.cli.output import echo, echo_json_line, moment
from callboard.cli.reading import Reading
from callboard.cli.views.lines import describe
from callboard.core.events import Event
from callboard.core.vocabulary.run import RunRecord
from callboard.store.journal.events import read_events
from callboard.store.journal.runs import load_run

_POLL_SECONDS: Final = 0.2


def events_report(journal: Reading, run: RunRecord, *, follow: bool, as_json: bool) -> None:
    """Print events, one per line; with `follow` also those still to come."""
    for event in _events(journal, run.id, follow=follow):
        if as_json:
            echo_json_line(event.to_json())
        else:
            echo(f"{event.seq:>6}  {moment(event.at)}  {event.type:<20}  {describe(event)}")


def _events(journal: Reading, run_id: str, *, follow: bool) -> Iterator[Event]:
    after = 0
    while True:
        # Asked before reading: what a run did before it was over is then surely read.
        run = journal.read(lambda connection: load_run(connection, run_id))
        page = journal.read(
            lambda connection, after=after: read_events(connection, after=after, run_id=run_id)
        )
        yield from page
        if page:
            after = page[-1].seq
        elif not follow or run.is_terminal:
            return
        else:
            time.sleep(_POLL_SECONDS)
