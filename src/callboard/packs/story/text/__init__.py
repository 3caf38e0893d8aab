"""Text: a Markdown file as front matter, prose, paragraphs, sentences, dialogue and words."""

from callboard.packs.story.text.blocks import Heading, ListItem, Paragraph, TableRow
from callboard.packs.story.text.document import Document
from callboard.packs.story.text.sentences import Sentence
from callboard.packs.story.text.words import count_words, stem, stop_words, words_of

__all__ = [
    "Document",
    "Heading",
    "ListItem",
    "Paragraph",
    "Sentence",
    "TableRow",
    "count_words",
    "stem",
    "stop_words",
    "words_of",
]
