"""Alfred over HTTP: conversations, the kitchen's rows, recipes in and out, the people who cook."""

from callboard.packs.alfred.routes import kitchen, people, recipes, talk

ROUTERS = tuple(module.router for module in (talk, kitchen, recipes, people))
