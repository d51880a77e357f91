"""The Porter stemmer as ROUGE uses it: the 1980 algorithm with NLTK's extensions.

M. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980. ``rouge-score`` stems with NLTK's
``PorterStemmer`` in its default mode, which departs from the paper in a table of irregular words, in short words in
-ies and -ied, in -y, and in four suffixes of step 2; a stemmer without them gives other ROUGE scores.

A word is described by its *shape*, one letter per character: ``v`` for a vowel, ``c`` for a consonant. The paper's
*measure* m is the number of times that a vowel is followed by a consonant.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["stem"]

_IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

_STEP_2 = """
    ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize
    ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful logi:log
"""
_STEP_3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
_STEP_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"


def _by_ending(rules: str) -> dict[str, list[tuple[str, str]]]:
    """Rules ``suffix:replacement`` by the suffix's last two letters, which leave one to three to try.

    Where two suffixes fit a word, the longer stands first, so the first that fits is the one that the paper means.
    """
    table: dict[str, list[tuple[str, str]]] = {}
    for rule in rules.split():
        suffix, _, replacement = rule.partition(":")
        table.setdefault(suffix[-2:], []).append((suffix, replacement))
    return table


_RULES_2, _RULES_3, _RULES_4 = _by_ending(_STEP_2), _by_ending(_STEP_3), _by_ending(_STEP_4)


class _Letters(dict[int, str]):
    """A translation table in which every character without an entry is a consonant."""

    def __missing__(self, key: int) -> str:
        return "c"


_LETTERS = _Letters({**{ord(vowel): "v" for vowel in "aeiou"}, ord("y"): "y"})


# Some 30 MB when full.
@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of ``word``, in lower case.

    >>> [stem(word) for word in ("relational", "Flies", "dies", "enjoyment", "hopping", "skies")]
    ['relat', 'fli', 'die', 'enjoy', 'hop', 'sky']
    """
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if len(word) <= 2:
        return lowered
    stemmed = _without_y(_without_past(_without_plural(lowered)))
    return _tidied(_shortened(_shortened(_joined(stemmed), _RULES_3, 0), _RULES_4, 1))


def _shape(word: str) -> str:
    """The shape of ``word``: "y" is a vowel after a consonant, and a consonant elsewhere."""
    shape = word.translate(_LETTERS)
    if "y" not in shape:
        return shape
    letters = list(shape)
    for place, letter in enumerate(letters):
        if letter == "y":
            letters[place] = "v" if place and letters[place - 1] == "c" else "c"
    return "".join(letters)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """The paper's *o: consonant, vowel, consonant at the end, the last not w, x or y; NLTK adds words like "us"."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _without_plural(word: str) -> str:
    """Step 1a; NLTK keeps the e of "dies" and "ties"."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    """Step 1b; NLTK takes "died" to "die" and "spied" to "spi"."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stemmed = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    shape = _shape(stemmed)
    if "v" not in shape:
        return word
    if stemmed.endswith(("at", "bl", "iz")):
        return stemmed + "e"
    if shape[-1] == "c" and stemmed[-2:-1] == stemmed[-1]:
        return stemmed if stemmed[-1] in "lsz" else stemmed[:-1]
    if stemmed.endswith("*d"):
        # NLTK writes its rule for double consonants as the suffix "*d", and so finds it in a word like "fo*ding".
        return stemmed[:-2] + "d"
    return stemmed + "e" if shape.count("vc") == 1 and _ends_short(stemmed) else stemmed


def _without_y(word: str) -> str:
    """Step 1c; NLTK asks for a consonant before the y, and for more than that consonant: "fli", but "enjoy", "by"."""
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        return word[:-1] + "i"
    return word


def _joined(word: str) -> str:
    """Step 2: double suffixes become single ones; NLTK looks again at what -alli leaves."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _joined(word[:-2])
    if word.endswith("logi"):
        # The l counts as part of what precedes, so that "geologi" is treated as "archaeologi" is.
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _shortened(word, _RULES_2, 0)


def _shortened(word: str, rules: dict[str, list[tuple[str, str]]], above: int) -> str:
    """``word`` with its suffix replaced if what precedes has a measure ``above`` this; steps 2, 3 and 4."""
    for suffix, replacement in rules.get(word[-2:], ()):
        if word.endswith(suffix):
            before = word[: -len(suffix)]
            if _measure(before) <= above or (suffix == "ion" and before[-1] not in "st"):
                return word
            return before + replacement
    return word


def _tidied(word: str) -> str:
    """Step 5: a last e goes, and a double l becomes single."""
    if word.endswith("e"):
        before = word[:-1]
        measure = _measure(before)
        if measure > 1 or (measure == 1 and not _ends_short(before)):
            word = before
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
