"""NLTK's ``sent_tokenize``, from NLTK's own data and without NLTK.

T. Kiss and J. Strunk, "Unsupervised Multilingual Sentence Boundary Detection", Computational Linguistics 32 (4), 2006;
section numbers below are theirs. The official ASQA and ALCE scorers split answers with it, so their ROUGE can only be
reproduced with it. The learnt data is a folder ``punkt_tab/english`` of four text files, which is not shipped here.

NLTK 3.10.2 began to treat curly quotation marks as it treats straight ones: 4 of 4,092 ASQA texts split differently.
That is the default here; ``curly_quotes=False`` splits as the versions before it do.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from longform.errors import InputError
from longform.text.sentences import Span

__all__ = ["Punkt", "find_punkt", "load_punkt"]

_FILES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")
_SOURCE = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"

# Where a word has been seen (section 4.1.1): in upper case inside a sentence; in upper case anywhere; in lower case at
# the start of one; in lower case anywhere.
_INNER_UPPER, _UPPER, _INITIAL_LOWER, _LOWER = 4, 2 + 4 + 8, 16, 16 + 32 + 64

# White space as NLTK's engine has it: the four separators that Python's \s includes are not among it.
_SPACE, _SOLID = r"[^\S\x1c-\x1f]", r"[\S\x1c-\x1f]"
_CURLY = "\u2018\u2019\u201c\u201d\xab\xbb"
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\Z")
_PUNCTUATION = frozenset(";:,.!?")


def find_punkt(path: str | Path | None = None) -> Path:
    """The folder of the English data: ``path`` or below it, else below a folder of ``NLTK_DATA``, else ~/nltk_data."""
    if path is not None:
        roots = [Path(path)]
    else:
        named = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
        roots = [*named, Path.home() / "nltk_data"]
    below = Path("tokenizers", "punkt_tab", "english")
    looked = [root / below for root in roots]
    for folder in [*roots, *looked] if path is not None else looked:
        if all((folder / name).is_file() for name in _FILES):
            return folder
    raise InputError(
        f"The Punkt data is not in {' or '.join(str(folder) for folder in looked)}: unpack {_SOURCE} into a folder "
        "'tokenizers', and set NLTK_DATA to the folder that holds it; or let Longform split sentences by its own rules."
    )


def load_punkt(path: str | Path | None = None, *, curly_quotes: bool = True) -> Punkt:
    """The splitter with the data that :func:`find_punkt` finds; read once."""
    return _loaded(find_punkt(path), curly_quotes)


@lru_cache(maxsize=4)
def _loaded(folder: Path, curly_quotes: bool) -> Punkt:
    return Punkt(folder, curly_quotes=curly_quotes)


class Punkt:
    """Splits text into sentences exactly as ``nltk.sent_tokenize`` does.

    >>> punkt = load_punkt()  # doctest: +SKIP
    >>> punkt.split("Mr. Smith left at 5 p.m. on Monday. Nobody saw him.")  # doctest: +SKIP
    ['Mr. Smith left at 5 p.m. on Monday.', 'Nobody saw him.']
    """

    def __init__(self, folder: str | Path, *, curly_quotes: bool = True) -> None:
        try:
            abbreviations, pairs, starters, contexts = (
                (Path(folder) / name).read_text(encoding="utf-8").split("\n") for name in _FILES
            )
            self._abbreviations = frozenset(abbreviations) - {""}
            self._collocations = frozenset(tuple(line.split("\t")) for line in pairs if line)
            self._starters = frozenset(starters) - {""}
            self._contexts = {word: int(flags) for word, flags in (line.split("\t") for line in contexts if line)}
        except (OSError, ValueError) as error:
            raise InputError(f"The Punkt data in {folder} cannot be read ({error}): unpack {_SOURCE} anew.") from error
        self._listed = self._abbreviations | {pair[0] for pair in self._collocations}
        quotes = _CURLY if curly_quotes else ""
        edge = rf"[)\";}}\]*:@'({{\[{quotes}?!]"
        several = rf"(?:-{{2,}}|\.{{2,}}|(?:\.{_SPACE}){{2,}}\.)"
        self._candidate = re.compile(rf"[.?!](?=(?P<after>{edge}|{_SPACE}+(?P<next>{_SOLID}+)))")
        self._token = re.compile(
            rf"{several}|(?=[^(\"`{{\[:;&#*@)}}\]\-,]){_SOLID}+?"
            rf"(?={_SPACE}|\Z|{edge}|{several}|,(?=\Z|{_SPACE}|{edge}|{several}))|{_SOLID}"
        )
        self._closing = re.compile(rf"[\"')\]}}{quotes}]+?(?:{_SPACE}+|(?=--)|$)", re.MULTILINE)

    def split(self, text: str) -> list[str]:
        """The sentences of ``text``."""
        return [text[start:end] for start, end in self.spans(text)]

    def spans(self, text: str) -> list[Span]:
        """Where the sentences of ``text`` stand; marks that close a quotation or a bracket go with what they close."""
        rough = self._rough_spans(text)
        spans: list[Span] = []
        shift = 0
        for (start, end), (following, limit) in pairwise(rough):
            closing = self._closing.match(text, following, limit)
            start += shift
            shift = closing.end() - following if closing else 0
            if closing:
                spans.append(Span(start, following + len(closing[0].rstrip())))
            elif start < end:
                spans.append(Span(start, end))
        start, end = rough[-1]
        return [*spans, Span(start + shift, end)] if start + shift < end else spans

    def _rough_spans(self, text: str) -> list[Span]:
        """The stretches between the stops that end a sentence."""
        spans: list[Span] = []
        begin = 0
        for word_at, match in self._contexts_of(text):
            if self._ends(text, word_at, match):
                spans.append(Span(begin, match.end()))
                begin = match.start("next") if match["next"] else match.end()
        return [*spans, Span(begin, len(text.rstrip()))]

    def _contexts_of(self, text: str) -> list[tuple[int, re.Match[str]]]:
        """Every stop that may end a sentence, with where the word before it begins; of joined stops, the last."""
        found: list[tuple[int, re.Match[str]]] = []
        previous: re.Match[str] | None = None
        start = stop = 0
        for match in self._candidate.finditer(text):
            at = match.start()
            place = at - 1
            # NLTK takes a blank in the first place for none at all, and so keeps the earlier word.
            while place > stop and text[place] not in " \t\n\r\v\f":
                place -= 1
            word_at = place + 1 if place > stop else start
            if previous and stop <= word_at:
                found.append((start, previous))
            previous, start, stop = match, word_at, at
        if previous:
            found.append((start, previous))
        return found

    def _ends(self, text: str, word_at: int, match: re.Match[str]) -> bool:
        """Whether the sentence ends at ``match``, judged by the word before and what follows at once."""
        at = match.start()
        if text[at] != ".":
            return True
        word = text[word_at:at]
        # Seven stops in ten of the ASQA answers follow a plain word that no list knows.
        if len(word) > 1 and word.isalpha() and word.lower() not in self._listed:
            return True
        lines = (text[word_at : at + 1] + match["after"]).split("\n")
        tokens = [token for line in lines if line.strip() for token in self._token.findall(line)]
        return any(self._breaks(token, following) for token, following in pairwise(tokens))

    def _breaks(self, token: str, following: str) -> bool:
        """Whether a sentence ends between two tokens (sections 4.1 to 4.3)."""
        if not token.endswith("."):
            return token in ("?", "!")
        kind = _type(token)
        bare = kind[:-1] if len(kind) > 1 and kind[-1] == "." else kind
        next_kind = _type(following)
        if self._first_guess(following) and len(next_kind) > 1 and next_kind[-1] == ".":
            next_kind = next_kind[:-1]
        if (bare, next_kind) in self._collocations:
            return False
        guess = self._first_guess(token)
        initial = len(token) == 2 and _is_letter(token[0])
        starts = self._starts_sentence(following, next_kind)
        if not guess and not initial and (starts or (following[0].isupper() and next_kind in self._starters)):
            guess = True
        if initial or bare == "##number##":
            if starts is False:
                return False
            seen = self._contexts.get(next_kind, 0)
            if starts is None and initial and following[0].isupper() and not seen & _LOWER:
                return False
        return guess

    def _first_guess(self, token: str) -> bool:
        """Whether ``token`` ends a sentence by its form alone: it has a stop and is not an abbreviation or "..."."""
        if token in (".", "?", "!"):
            return True
        if not token.endswith(".") or token.endswith(".."):
            return False
        word = token[:-1].lower()
        return word not in self._abbreviations and word.rsplit("-", 1)[-1] not in self._abbreviations

    def _starts_sentence(self, token: str, kind: str) -> bool | None:
        """Whether ``token`` opens a sentence by how it is usually written (section 4.1.1); None where unknown."""
        if token in _PUNCTUATION:
            return False
        seen = self._contexts.get(kind, 0)
        if token[0].isupper() and seen & _LOWER and not seen & _INNER_UPPER:
            return True
        if token[0].islower() and (seen & _UPPER or not seen & _INITIAL_LOWER):
            return False
        return None


def _type(token: str) -> str:
    """A token in lower case; every number is the same."""
    lowered = token.lower()
    return "##number##" if _NUMBER.match(lowered) else lowered


def _is_letter(character: str) -> bool:
    """Whether NLTK's engine counts ``character`` as part of a word, and not as a digit."""
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("Nl", "Pc")
