"""Acting on runs: signals, taking up, retrying, forking, answering, applying what one proposes."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from callboard.choreography.recipe import FileProposal, apply_proposals, list_proposals
from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform, perform_simply
from callboard.cli.handlers.following import last_seq
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import echo, echo_json, echo_text, remark
from callboard.cli.reading import matching, pick, viewer_here
from callboard.cli.reports.shapes import question_shape
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import Answer, RunState, SignalKind, SignalRecord
from callboard.operations import runtime
from callboard.store.connection import Connection
from callboard.store.journal.questions import list_questions, load_question
from callboard.store.journal.runs import list_runs, load_run


def send_signal(project: Path | None, name: str, kind: str, reason: str, *, as_json: bool) -> int:
    """Send a signal and print the state in which it took effect."""

    async def work() -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            run = here.find(name)
            if here.owners.executes(run) and not as_json:
                remark("Waiting until it takes effect; a step that is executing comes first.")
            signal = await runtime.send_signal(here.studio, run.id, SignalKind(kind), reason)
            _tell_signal(signal, as_json=as_json)
            return exits.OK

    return perform_simply(work())


def resume_run(choices: Choices, name: str) -> int:
    """Let one run go on: where it is paused, or here if nobody executes it."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            run = here.find(name)
            after, engine = last_seq(here.studio), here.studio.engine
            if run.state is not RunState.PAUSED:
                here.require_choreography(run)
                await engine.resume(run.id)
                return await here.follow(run.id, interrupt, after=after)
            is_elsewhere = here.owners.executes(run)
            if not is_elsewhere:
                here.require_choreography(run)
            signal = await runtime.send_signal(here.studio, run.id, SignalKind.RESUME)
            if is_elsewhere:
                _tell_signal(signal, as_json=choices.as_json)
                return exits.OK
            return await here.follow(run.id, interrupt, after=after)

    return perform(work)


def resume_all(choices: Choices) -> int:
    """Take up every interrupted run and watch them one after the other."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            after = last_seq(here.studio)
            taken: list[str] = []
            for run in here.owners.interrupted():
                here.require_choreography(run)
                await here.studio.engine.resume(run.id)
                taken.append(run.id)
            if not taken and not choices.as_json:
                remark("No run is interrupted.")
            return await follow_each(here, taken, interrupt, after)

    return perform(work)


async def follow_each(here: OpenWork, run_ids: list[str], interrupt: Interrupt, after: int) -> int:
    """Watch runs that are executed here together; return the first exit code that is not 0."""
    codes = [await here.follow(run_id, interrupt, after=after) for run_id in run_ids]
    return next((code for code in codes if code != exits.OK), exits.OK)


@dataclass(slots=True)
class Woken:
    """How the runs ended that a change of a session woke up here."""

    code: int = exits.OK


@asynccontextmanager
async def follow_woken(here: OpenWork, interrupt: Interrupt) -> AsyncGenerator[Woken]:
    """Afterwards watch the paused runs that the work within let go on in this process."""
    database = here.studio.database
    paused = database.read(lambda connection: list_runs(connection, states=(RunState.PAUSED,)))
    elsewhere = {run.id for run in paused if here.owners.executes(run)}
    after, woken = last_seq(here.studio), Woken()
    yield woken
    ours = [
        run.id
        for run in paused
        if run.id not in elsewhere and here.studio.engine.load(run.id).state is not RunState.PAUSED
    ]
    woken.code = await follow_each(here, ours, interrupt, after)


def retry_run(choices: Choices, name: str, from_step: str | None = None) -> int:
    """Retry a run and watch the new one."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            old = here.find(name)
            here.studio.repertoire.performer(old.choreography)
            new = await here.studio.retry(old.id, from_step=from_step)
            here.announce(new)
            return await here.follow(new.id, interrupt)

    return perform(work)


def fork_run(choices: Choices, name: str, from_step: str | None, edits: Mapping[str, Json]) -> int:
    """Fork a run and watch the new one."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            old = here.find(name)
            here.studio.repertoire.performer(old.choreography)
            new = await here.studio.engine.fork(old.id, from_step=from_step, edits=dict(edits))
            here.announce(new)
            return await here.follow(new.id, interrupt)

    return perform(work)


def give_answer(choices: Choices, name: str, value: str, *, wait: bool) -> int:
    """Answer a question; a run that nobody executes is taken up here and watched."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            asked = find_question(here, name)
            run = here.studio.engine.load(asked.run_id)
            is_idle = run.state in (RunState.WAITING, RunState.RUNNING, RunState.PENDING)
            is_idle = is_idle and not here.owners.executes(run)
            if wait and is_idle:
                here.require_choreography(run)
            after = last_seq(here.studio)
            answer = await runtime.give_answer(here.studio, asked, value, dispatch=wait)
            if wait and is_idle:
                return await here.follow(run.id, interrupt, after=after)
            _tell_answer(answer, is_idle=is_idle, as_json=choices.as_json)
            return exits.OK

    return perform(work)


def find_question(here: OpenWork, name: str) -> Answer:
    """Return the question a user means; one of somebody else's conversation raises."""

    def find(connection: Connection) -> Answer:
        def session_of(question_id: str) -> str:
            asked = load_question(connection, question_id)
            return load_run(connection, asked.run_id).session_id

        ids = [each.id for each in list_questions(connection, only_open=False)]
        named = matching(ids, name)
        own = viewer_here().among(connection, named, session_of)
        found = load_question(connection, pick(own or named[:1], name, "question"))
        viewer_here().require(connection, session_of(found.id))
        return found

    return here.studio.database.read(find)


def _tell_answer(answer: Answer, *, is_idle: bool, as_json: bool) -> None:
    if as_json:
        echo_json({"question": question_shape(answer)})
        return
    echo(f"Answered {answer.id} of run {answer.run_id}.")
    if is_idle:
        remark(f"Nobody executes the run: callboard runs resume {answer.run_id}")


def _tell_signal(signal: SignalRecord, *, as_json: bool) -> None:
    state = signal.acknowledged_state.value if signal.acknowledged_state is not None else ""
    if as_json:
        shape = {"id": signal.id, "run_id": signal.run_id, "kind": signal.kind.value}
        echo_json({"signal": {**shape, "reason": signal.reason, "acknowledged_state": state}})
    else:
        echo(f"Run {signal.run_id}: {signal.kind.value} took effect, the run is {state}.")


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the user accepts: one file or all, and whether a changed file is replaced as well."""

    path: str | None = None
    force: bool = False


def show_proposals(project: Path | None, name: str, *, as_json: bool) -> int:
    """Print what a run would write."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            found = await list_proposals(here.studio, here.find(name).id)
            if as_json:
                echo_json({"proposals": [each.to_json() for each in found]})
            elif not found:
                remark("This run proposes nothing.")
            for proposal in () if as_json else found:
                _print(proposal)
        return exits.OK

    return perform(work)


def apply_run(project: Path | None, name: str, accepted: Acceptance, *, as_json: bool) -> int:
    """Write what a run proposes and say what was written."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            applied = await apply_proposals(
                here.studio, here.find(name).id, path=accepted.path, force=accepted.force
            )
            if as_json:
                echo_json({"applied": [each.to_json() for each in applied]})
            for proposal in () if as_json else applied:
                echo_text(proposal.diff)
                echo(f"Written: {proposal.path}")
        return exits.OK

    return perform(work)


def _print(proposal: FileProposal) -> None:
    state = "applied" if proposal.is_applied else "outdated" if proposal.is_outdated else "open"
    echo(f"{proposal.path} ({state}, issue #{proposal.issue}): {proposal.reason}")
    echo_text(proposal.diff)
    if not proposal.is_applied:
        remark(f"Write it: callboard runs apply {proposal.run_id}")
