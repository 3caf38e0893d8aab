"""One module per noun of the API."""

from callboard.api.routes import (
    agents,
    alfred,
    audit,
    chat,
    conferences,
    factory,
    issues,
    plans,
    recipes,
    runs,
    sessions,
    system,
    tools,
)

ROUTERS = (
    *(
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
    ),
    *factory.ROUTERS,
    *alfred.ROUTERS,
)
