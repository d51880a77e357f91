"""The words by which an answer tells something: its names, its numbers, and, as far as rules go, its nouns.

*Hurdles* (Krishna et al., 2021, Table 4) counts "lemmatized nouns, proper nouns and numbers" of an answer that stand in
the retrieved paragraphs and not in the question; it names no tagger and released none. No part-of-speech tagger comes
with Longform either. What stands in its place:

- a number is a word with a digit in it, or a number's name from "two" on;
- a name is a word with a capital, stop words left out; the first word of a sentence only where it belongs to a longer
  name (:func:`longform.answer.mentions.names_in`);
- a noun is any other word that is no stop word, stands in no list of common verbs, adjectives and adverbs, and has
  neither their endings nor their place: "-ly"; "-ed"; "-ing" where no article or preposition stands before it;
  "-al", "-ic", "-ous" and the like where another such word follows.

Words that no list and no ending gives away count as nouns. In place of lemmas stand the stems that ROUGE uses.
"""

from __future__ import annotations

import re
from functools import lru_cache

from longform.answer.mentions import names_in
from longform.audit._not_nouns import NOT_NOUNS, NUMBER_WORDS
from longform.text import QUESTION_WORDS, STOP_WORDS, split_sentences
from longform.text.porter import stem

__all__ = ["stems_of", "telling_words", "tokens_of", "word_stem"]

_TOKEN = re.compile(r"[^\W_]+")
_EMPTY = STOP_WORDS | QUESTION_WORDS
# Of the words in -ly and -ed these are nouns.
_LY = frozenset({"ally", "anomaly", "assembly", "belly", "family", "jelly", "lily", "monopoly", "reply", "supply"})
_ED = frozenset({"breed", "creed", "deed", "feed", "greed", "need", "reed", "seed", "speed", "weed", "shed"})
_MODIFIER = re.compile(r".{2,}(?:al|ic|ous|ful|less|able|ible|ive|ary|ish|ese|ian|ican)")
_BEFORE_A_NOUN = frozenset(
    {"the", "a", "an", "of", "his", "her", "its", "their", "this", "that", "each", "first", "own"}
)


def tokens_of(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters and digits.

    >>> tokens_of("He didn't sing in 1964.")
    ['he', 'didn', 't', 'sing', 'in', '1964']
    """
    return _TOKEN.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def word_stem(word: str) -> str:
    """The stem of a word of more than three letters, as ROUGE has it.

    >>> word_stem("paintings"), word_stem("gas")
    ('paint', 'gas')
    """
    return stem(word) if len(word) > 3 else word


def stems_of(text: str) -> frozenset[str]:
    """The stems of all words of a text, nouns or not."""
    return frozenset(word_stem(word) for word in tokens_of(text))


def telling_words(text: str) -> list[str]:
    """The names, numbers and nouns of a text in their order and as often as they occur, in lower case.

    >>> telling_words("The painting was finally sold to two American museums in May 1964, by Paul.")
    ['painting', 'two', 'american', 'museums', 'may', '1964', 'paul']
    """
    return [word for sentence in split_sentences(text) for word in _telling(sentence)]


def _telling(sentence: str) -> list[str]:
    # A first word that only its place gives a capital is judged as any other word.
    named = [(name.start, name.end) for name in names_in(sentence) if not name.alone]
    tokens = list(_TOKEN.finditer(sentence))
    words = [token.group().lower() for token in tokens]
    found = []
    for place, (token, word) in enumerate(zip(tokens, words, strict=True)):
        number = word in NUMBER_WORDS or any(letter.isdigit() for letter in word)
        capital = token.group()[0].isupper() and word not in _EMPTY
        name = capital and (place > 0 or any(start <= token.start() < end for start, end in named))
        if number or name or _is_noun(words, place, sentence[token.end() : token.end() + 1]):
            found.append(word)
    return found


def _is_noun(words: list[str], place: int, behind: str) -> bool:
    word = words[place]
    if len(word) < 2 or word in _EMPTY or word in NOT_NOUNS:
        return False
    if word.endswith("ly") and len(word) > 3:
        return word in _LY
    before = words[place - 1] if place else ""
    follows = words[place + 1] if place + 1 < len(words) and behind in (" ", "-") else ""
    more = bool(follows) and follows not in _EMPTY and follows not in NOT_NOUNS
    if word.endswith("ed") and len(word) > 3:
        return word in _ED
    if word.endswith("ing") and len(word) > 4:
        # "the building of", but neither "was building" nor "the rising star".
        return before in _BEFORE_A_NOUN and not more
    return not (more and _MODIFIER.fullmatch(word))
