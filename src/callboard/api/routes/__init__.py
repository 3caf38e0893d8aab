"""The runtime's own API, a few nouns per module."""

from callboard.api.routes import issues, runs, system, tools

ROUTERS = (
    system.router,
    runs.router,
    system.agents_router,
    tools.router,
    issues.router,
    tools.audit_router,
    runs.sessions_router,
)
