"""Alfred over HTTP: conversations, the kitchen's rows, recipes in and out, the people who cook."""

from callboard.api.routes.alfred import kitchen, people, recipes, talk

ROUTERS = tuple(module.router for module in (talk, kitchen, recipes, people))
