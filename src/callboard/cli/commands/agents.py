"""`callboard agents`: who is on the staff, with which model, doing what."""

from callboard.cli.options import JsonOption, ProjectOption, new_app

app = new_app("Agents: who is on the staff, with which model, doing what.")


@app.command()
def agents(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List the enabled agents in order."""
    from callboard.cli.handlers.tools import list_agents

    return list_agents(project, as_json=as_json)
