"""One module per noun of the runtime's own API."""

from callboard.api.routes import agents, audit, issues, runs, sessions, system, tools

ROUTERS = tuple(module.router for module in (system, runs, agents, tools, issues, audit, sessions))
