"""Exit codes: the numbers and their meaning. Imports nothing, so that `--help` stays quick."""

OK = 0
FAILED = 1
USAGE = 2
WAITING = 3
NOT_FOUND = 4
CONFLICT = 5
NEEDS_YOU = 6
INTERRUPTED = 130

MEANINGS = {
    OK: "it worked",
    FAILED: "the run or the operation failed, or a check found something wrong",
    USAGE: "the command was called the wrong way, or a value cannot be used",
    WAITING: "the run waits for the human: see `callboard answer`",
    NOT_FOUND: "something was named that does not exist",
    CONFLICT: "the thing named is not in a state that allows it",
    NEEDS_YOU: "something outside must be set right first: a key, a permission, disk space",
    INTERRUPTED: "interrupted by Ctrl-C; nothing finished is lost",
}
