"""Text: a Markdown file as front matter, prose, paragraphs, sentences, dialogue and words."""

from callboard.library.story.text.document import Document
from callboard.library.story.text.markdown import Heading, ListItem, Paragraph, TableRow
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import (
    content_stems,
    content_words,
    count_words,
    stem,
    stop_words,
    words_of,
)

__all__ = [
    "Document",
    "Heading",
    "ListItem",
    "Paragraph",
    "Sentence",
    "TableRow",
    "content_stems",
    "content_words",
    "count_words",
    "stem",
    "stop_words",
    "words_of",
]
