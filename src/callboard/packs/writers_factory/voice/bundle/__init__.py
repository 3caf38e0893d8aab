"""The voice bundle: the files the chosen passage is made into, written and read back."""

from callboard.packs.writers_factory.voice.bundle.reading import (
    DEFAULT_PATH,
    VoiceBundle,
    read_bundle,
)

__all__ = ["DEFAULT_PATH", "VoiceBundle", "read_bundle"]
