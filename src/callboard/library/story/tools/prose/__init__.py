"""prose_analyzer: how a scene is written, measured sentence by sentence."""
