"""scene_draft_validator: a scene or a draft against its beat, its canon and the craft's minimum."""
