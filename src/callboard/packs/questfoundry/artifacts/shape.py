"""The base of every artifact's shape: closed, but for keys that begin with `x_`."""

from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, model_validator

_OWN: Final = "x_"


def _closed(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False
    schema["patternProperties"] = {f"^{_OWN}": {}}


class ArtifactPart(BaseModel):
    """A part of an artifact. A key nobody knows is refused by name, unless it begins with `x_`."""

    model_config = ConfigDict(extra="allow", frozen=True, json_schema_extra=_closed)

    @model_validator(mode="after")
    def _refuse_strangers(self) -> "ArtifactPart":
        strangers = sorted(key for key in self.model_extra or {} if not key.startswith(_OWN))
        if strangers:
            known = ", ".join(type(self).model_fields)
            raise ValueError(f"unknown: {', '.join(strangers)}; known are {known}, and x_…")
        return self


class ArtifactBody(ArtifactPart):
    """What one kind of artifact holds. `KIND` is its name everywhere."""

    KIND: ClassVar[str]
    # Other kinds with the same fields.
    ALSO: ClassVar[tuple[str, ...]] = ()
