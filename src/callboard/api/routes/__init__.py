"""One module per noun of the API."""

from callboard.api.routes import (
    agents,
    audit,
    chat,
    conferences,
    issues,
    plans,
    recipes,
    runs,
    sessions,
    system,
    tools,
)

ROUTERS = tuple(
    module.router
    for module in (
        system,
        runs,
        recipes,
        plans,
        conferences,
        chat,
        agents,
        tools,
        issues,
        audit,
        sessions,
    )
)
