"""Cache: what a model has said about a text, by the text, the question and the model."""

from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.store.records import Records

KIND: Final = "health_judgement"


@dataclass(frozen=True, slots=True)
class JudgementKey:
    """What an answer depends on."""

    check: str
    content_hash: str
    model: str
    # The rest of the question: the flaw, the theme, the symbols.
    question: str = ""

    @classmethod
    def of(cls, check: str, content_hash: str, model: str, *question: str) -> "JudgementKey":
        """Return the key of a question about a text."""
        return cls(check, content_hash, model, digest(list(question)))

    @property
    def id(self) -> str:
        """What the answer is stored under."""
        told: list[Json] = [self.check, self.content_hash, self.model, self.question]
        return digest(told)


class JudgementCache:
    """Answers that are never paid for twice."""

    def __init__(self, records: Records) -> None:
        """Take where they are kept."""
        self._records = records

    def get(self, key: JudgementKey) -> dict[str, Any] | None:
        """Return an answer, or None if nobody has asked yet."""
        found = self._records.get(KIND, key.id)
        return None if found is None else found["answer"]

    async def keep(self, key: JudgementKey, answer: dict[str, Json]) -> None:
        """Keep an answer."""
        await self._records.put(
            KIND,
            key.id,
            {
                "check": key.check,
                "content_hash": key.content_hash,
                "model": key.model,
                "answer": answer,
            },
        )
