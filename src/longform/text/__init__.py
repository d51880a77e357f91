"""Text as the rest of the package needs it: sentences, and the words a search leaves out.

>>> split_sentences("Mr. Darcy left. Why?")
['Mr. Darcy left.', 'Why?']
"""

from __future__ import annotations

from longform.text.content import content_tokens, content_words
from longform.text.normalize import normalize_answer, normalized_names
from longform.text.sentences import Span, sentence_spans, split_sentences
from longform.text.stopwords import FUNCTION_WORDS, QUESTION_WORDS, STOP_WORDS

__all__ = [
    "FUNCTION_WORDS",
    "QUESTION_WORDS",
    "STOP_WORDS",
    "Span",
    "content_tokens",
    "content_words",
    "normalize_answer",
    "normalized_names",
    "sentence_spans",
    "split_sentences",
]
