"""The table of commands, and the variable by which a shell asks what could come next."""

COMMANDS = {
    "demo": "run the sample project with the embedded model",
    "init": "make a folder a project",
    "run": "start a run and watch it",
    "plan": "a wish split into tasks, for you to approve and run",
    "runs": "list, show, control, retry and fork runs",
    "answer": "answer what a run asks you",
    "route": "which recipe a request is for",
    "recipes": "the recipes in force, bundled and your own",
    "tool": "tools: list, look, run one",
    "agents": "who is on the staff, doing what",
    "conference": "ask the whole staff one question",
    "chat": "talk with one agent",
    "factory": "a novel, from idea to manuscript, with the Foreman",
    "alfred": "a kitchen: talk, recipes, stock, lists, plans",
    "sessions": "isolated lines of work",
    "packs": "what can be run, and who takes part",
    "prompts": "templates, and every prompt as it was sent",
    "receipts": "the signed record of every tool execution",
    "evidence": "which replies were grounded, and why others were not",
    "issues": "what work left behind for you",
    "models": "the catalog, the embedded model, a trial",
    "auth": "keys of model providers: store, list, remove",
    "usage": "what was called, by whom, for how much",
    "budget": "what may be spent, and what is left",
    "serve": "the project over HTTP",
    "trust": "say that what a folder brings shall count",
    "config": "the settings in force and where they come from",
    "doctor": "check the project and its surroundings",
}
"""Command name to one line of help; each has a module of its name with a Typer `app`."""

COMPLETE_VARIABLE = "_CALLBOARD_COMPLETE"
"""Set by a shell that asks what could come next."""
