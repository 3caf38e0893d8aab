"""Settings of structured replies: how patiently a valid one is asked for and models are tried."""

from pydantic import Field

from callboard.core.settings.section import Section, restricted


class StructureSettings(Section):
    """How structured replies are got from models that do not give them at once."""

    max_questions: int = Field(
        default=24,
        ge=1,
        le=200,
        description="Most small questions asked in place of one reply that never became valid.",
        json_schema_extra=restricted("every question is a call you pay for"),
    )
    trial_tries: int = Field(
        default=3,
        ge=1,
        le=100,
        description="Tries per shape of schema when `callboard models test` measures a model.",
        json_schema_extra=restricted("every try is a call you pay for"),
    )
