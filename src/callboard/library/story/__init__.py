"""Stories: an index over a folder of Markdown and the tools that read it without a model."""
