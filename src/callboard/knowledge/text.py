"""Makes any string one that a database can store and a tokenizer can read."""


def storable(text: str) -> str:
    """Return a text with half surrogate pairs replaced; anything else stays as it is."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
