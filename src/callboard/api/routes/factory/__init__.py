"""Writers Factory: everything a writer can do with a book, one module per noun."""

from callboard.api.routes.factory import (
    bible,
    chat,
    completion,
    editing,
    graph,
    health,
    memory,
    modes,
    planning,
    revision,
    scenes,
    state,
    transparency,
    voice,
)

ROUTERS = tuple(
    module.router
    for module in (
        state,
        chat,
        modes,
        bible,
        memory,
        graph,
        voice,
        planning,
        scenes,
        revision,
        editing,
        health,
        completion,
        transparency,
    )
)
