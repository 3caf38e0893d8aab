"""Open questions as read from the journal."""

from callboard.cli.output import echo, echo_json, moment, one_line, remark
from callboard.cli.reading import Reading
from callboard.cli.reports.shapes import question_shape
from callboard.core.vocabulary.run import Answer
from callboard.store.journal.questions import list_questions


def questions_report(journal: Reading, *, as_json: bool) -> None:
    """List what waits for the human, oldest first."""
    nothing: list[Answer] = []
    questions = journal.read_or(nothing, list_questions)
    if as_json:
        echo_json({"questions": [question_shape(each) for each in questions]})
        return
    if not questions:
        remark("No run asks anything.")
    for each in questions:
        choices = f" [{' / '.join(each.question.choices)}]" if each.question.choices else ""
        echo(f"{each.id}  {moment(each.asked_at)}  run {each.run_id}")
        echo(f"  {one_line(each.question.text)}{choices}")
        echo(f"  callboard answer {each.id} VALUE")
