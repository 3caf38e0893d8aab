"""Control Room: conferences, recipes and plans for fiction authors over a folder of Markdown."""
