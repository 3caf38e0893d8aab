"""The voice: passages of a tournament without their names, the winner, the bundle, the lock."""

from typing import Any

from callboard.cli.output import clean, echo, echo_facts, echo_json, echo_table, moment, remark
from callboard.core.canonical import Json
from callboard.packs.writers_factory.voice import Tournament, TournamentState, VoiceStatus


def tournaments_report(tournaments: tuple[Tournament, ...], *, as_json: bool) -> None:
    """List the tournaments."""
    if as_json:
        echo_json({"tournaments": [tournament_shape(each) for each in tournaments]})
    elif not tournaments:
        remark("No tournament yet: callboard factory tournament --prompt TEXT")
    else:
        rows = [
            (each.id, each.state.value, moment(each.created_at), each.test_prompt)
            for each in tournaments
        ]
        echo_table(("TOURNAMENT", "STATE", "HELD", "PASSAGE"), rows)


def tournament_report(
    tournament: Tournament, *, reveal: bool | None = None, as_json: bool = False
) -> None:
    """Show the passages under their letters; who wrote which only if wanted or once one won."""
    if as_json:
        echo_json({"tournament": tournament_shape(tournament, reveal)})
        return
    echo(f"{tournament.id}: {tournament.state.value}")
    echo(clean(tournament.test_prompt))
    for told in tournament.presented(reveal=reveal):
        _echo_passage(told)
    for model, why in tournament.unusable.items():
        remark(clean(f"  {model} could not take part: {why}"))
    if tournament.state is TournamentState.READY and not tournament.winner:
        remark("Choose one: callboard factory winner LETTER --notes TEXT")


def _echo_passage(told: dict[str, Any]) -> None:
    name = f"  {told['agent']}, {told['strategy']}" if "agent" in told else ""
    flags = f"  [{', '.join(told['flags'])}]" if told["flags"] else ""
    echo(clean(f"\n== {told['label']}  {told['total']} points, {told['words']} words{name}{flags}"))
    scores = [f"{each['dimension']} {each['score']:g}/{each['most']}" for each in told["scores"]]
    echo(clean(f"   {', '.join(scores)}\n"))
    echo(clean(str(told["text"])))


def tournament_shape(tournament: Tournament, reveal: bool | None = None) -> dict[str, Json]:
    """Return a tournament for programs, as nameless as people are shown it."""
    shown: list[Json] = [*tournament.presented(reveal=reveal)]
    failed: list[Json] = [each.error for each in tournament.failed]
    return {**tournament.to_json(), "variants": shown, "failed": failed}


def winner_report(tournament: Tournament, *, as_json: bool) -> None:
    """Show which passage won, and who wrote it."""
    if as_json:
        echo_json({"tournament": tournament_shape(tournament)})
        return
    winning = tournament.winning
    if winning is not None:
        echo(clean(f"{winning.agent} won with {winning.strategy}."))
    remark("Another choice takes its place: callboard factory winner LETTER")
    remark("Next: callboard factory bundle")


def bundle_report(made: dict[str, Any]) -> None:
    """Show which files a bundle was written to, and where the ones before are kept."""
    for name in made["files"]:
        echo(clean(str(name)))
    echo(clean(f"\n{made['summary']}"))
    if made["warning"]:
        remark(clean(f"  warning: {made['warning']}"))
    for name in made["archived"]:
        remark(clean(f"  before: {name}"))
    remark("Read it, then: callboard factory lock")


def status_report(status: VoiceStatus, *, as_json: bool) -> None:
    """Show how far the voice has come."""
    if as_json:
        echo_json({"voice": status_shape(status)})
        return
    echo_facts(
        [
            ("voice", "locked" if status.locked else f"{status.steps_done} of 5 steps done"),
            ("passage", status.test_passage),
            ("tournament", f"{status.tournament_id} {status.tournament_state}".strip()),
            ("winner", f"{status.winning_agent} {status.winning_strategy}".strip()),
            ("bundle", status.bundle_path),
        ]
    )


def status_shape(status: VoiceStatus) -> dict[str, Json]:
    """Return how far the voice has come, for programs."""
    return {
        "test_passage": status.test_passage,
        "tournament_id": status.tournament_id,
        "tournament_state": status.tournament_state,
        "winner": status.winner,
        "winning_agent": status.winning_agent,
        "winning_strategy": status.winning_strategy,
        "bundle_ready": status.bundle_ready,
        "bundle_path": status.bundle_path,
        "bundle_version": status.bundle_version,
        "locked": status.locked,
        "steps_done": status.steps_done,
    }
