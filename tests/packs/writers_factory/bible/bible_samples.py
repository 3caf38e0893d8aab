"""Templates that are complete, for tests that need one."""

PROTAGONIST = {
    "name": "Maren Holt",
    "fatal_flaw": "She controls everything because she cannot bring herself to ask for help",
    "the_lie": "If she asks anyone for help, she will lose the only place she has",
    "arc_start": "Maren forges the log and lets nobody past the kitchen",
    "arc_midpoint": "Maren lets the surveyor wind the clockwork and sleeps one whole night",
    "arc_resolution": "Maren asks the town for help in her own name and loses the post",
}
THEME = {
    "central_theme": "Pride and dependence",
    "theme_statement": "A debt of care can only be paid by those who let themselves be helped",
}
RULES = [
    "The clockwork must be wound every four hours of the night",
    "No boat can land on the Rock while the wind is in the north",
    "A false hour in the log costs the keeper the post",
]
BEATS = [
    "Maren winds the clockwork alone before dawn",
    "The boatman says a house is not kept by one pair of hands",
    "She forges the October log in her father's writing",
    "A surveyor rows out with the letter that ends the light",
    "She weighs telling him against hiding the sickroom",
    "She offers to guide the survey herself to keep him downstairs",
    "He reads his notes aloud and she corrects him despite herself",
    "They measure the tower by day and trade stories by night",
    "She sleeps a whole night while he winds, and believes they are safe",
    "The Board asks for a sworn log and her father begins to wander",
    "The surveyor finds the two handwritings and leaves with the boat",
    "She sits with her father, who no longer knows the light",
    "She writes to the town in her own hand and asks them to come",
    "With the lamp cold they light fires along the whole shore",
    "Others wind the museum clockwork while Maren watches from the quay",
]


def beat_sheet() -> dict[str, str]:
    """Return a complete beat sheet."""
    fields = {f"beat_{number}": text for number, text in enumerate(BEATS, start=1)}
    return {**fields, "midpoint_type": "false_victory"}
