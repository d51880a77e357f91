"""English abbreviations and the other words that decide where a sentence ends.

An abbreviation stands here without its last stop and with its inner ones: "Mr", "Ph.D", "p.m". Case matters,
since "Mass." is a state and "mass." ends a sentence.
"""

from __future__ import annotations

import re
from enum import Enum, auto

__all__ = [
    "CONNECTORS",
    "DOMAIN_ENDINGS",
    "EXCLAIMED_NAMES",
    "FINAL_FOLLOWERS",
    "INFORMAL_OPENERS",
    "KINDS",
    "LETTER_HEADS",
    "OPENERS",
    "RULERS",
    "SAYING_VERBS",
    "Kind",
    "kind_of",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Kind(Enum):
    """What the stop of an abbreviation means before a capital, and before a digit.

    >>> KINDS["Mr"], KINDS["etc"], KINDS["p.m"]
    (<Kind.NEVER: 1>, <Kind.QUANTITY: 3>, <Kind.FINAL: 4>)
    """

    NEVER = auto()
    """Always belongs to what follows: "Mr. Darcy", "Roe v. Wade"."""
    REFERENCE = auto()
    """Does not end before a digit or a Roman numeral: "Vol. 3", "Act. IV"; ends before other capitals."""
    QUANTITY = auto()
    """Does not end before a digit: "6 ft. 2", "No. 5"; ends before any capital."""
    FINAL = auto()
    """Ends before most capitals: "at 5 p.m. Police came", but "at 5 p.m. Eastern", "Apple Inc. Chairman"."""
    EITHER = auto()
    """Ends only before a word that usually opens a sentence: "the U.S. He", but "the U.S. Army"."""


_NEVER = """
    Mr Mrs Ms Mx Dr Drs Prof Profs Messrs Mme Mlle Mmes Mons Sra Srta Dña mr mrs ms dr prof Gen Col Lt Lieut
    Capt Cpt Cmdr Comdr Cdr Maj Sgt Cpl Pvt Pte Adm Brig Ens Sfc Spc Flt Wg Sqn Msgt Ssgt Tsgt Rev Revd Fr
    Msgr Mgr Bp Abp Archbp Ven Hon Rt Sen Sens Rep Reps Gov Govs Pres Amb Atty Supt Insp Det Dep Ald Dcn
    Sr.Lt Lt.Col Lt.Gen Maj.Gen Brig.Gen Rear.Adm Vice.Adm Wm Chas Geo Jas Jos Thos Benj Robt Edw Danl Saml
    Mt Mts Ft Pt vs v cf Cf e.g i.e eg ie E.g I.e viz ca c approx Approx op nr né née incl excl esp aka
    a.k.a
"""
_REFERENCE = """
    Vol Vols vol vols Bk bk Ch ch Chap chap Sec sec Sect sect Art Fig Figs fig figs Eq Eqs eq eqs Pl Tab App
    pp p Pp ll nn par para paras Para cl Cl Op Ver ver Ps Pss Exod Lev Deut Josh Judg Sam Kgs Chron Neh Prov
    Eccl Isa Jer Ezek Hos Obad Mic Hab Zeph Hag Zech Mal Matt Rom Cor Gal Eph Phil Thess Tim Heb Rs Reg Mk
    Dist
"""
_QUANTITY = """
    No no Nos nos etc Etc ft in lb lbs oz yd yds mi km cm mm kg mg sq cu hr hrs mins secs yr yrs mos wk wks
    mph kph kmh rpm gal gals qt pts est Est tel Tel ext dept
"""
_FINAL = "a.m p.m A.M P.M Inc Ltd LLC Pty Plc plc D.C"
_EITHER = """
    Co Cos Corp Bros Mfg Dept Univ Assn Assoc Intl Natl Govt Inst Acad Jr Sr Esq jr sr St Ste Sts Ave Blvd
    Rd Hwy Pkwy Rte Bldg Apt Sq Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Tue Tues Thu Thur Thurs Fri
    Ala Ariz Ark Calif Cal Colo Conn Del Fla Ga Ill Ind Kan Kans Ky La Mass Md Mich Minn Miss Mo Mont Neb
    Nebr Nev Okla Ore Oreg Pa Penn Penna Tenn Tex Va Vt Wash Wis Wisc Wyo Ont Que Alta Sask al ed eds Ed Eds
    trans transl Trans tr repr ser orig pseud ibid Ibid cit seq passim fl sp spp ssp subsp var cv syn abbr
    lit Lat Gr Ger Ital Eng Span Heb Arab Jap Chin Russ Skt Ph.D Ph.Ds Ed.D D.Phil M.Phil B.Sc M.Sc D.Sc
    B.Eng M.Eng B.Mus D.Mus Litt.D LL.B LL.M LL.D B.Ed M.Ed Psy.D Pharm.D feat prod misc max min temp avg
    dist mun prov dial colloq obs
"""

KINDS: dict[str, Kind] = {
    word: kind
    for kind, words in (
        (Kind.EITHER, _EITHER),
        (Kind.QUANTITY, _QUANTITY),
        (Kind.REFERENCE, _REFERENCE),
        (Kind.FINAL, _FINAL),
        (Kind.NEVER, _NEVER),
    )
    for word in words.split()
}
"""The kind of every listed abbreviation; where a word stands in two lists, the more cautious kind holds."""

_INITIALISM = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_VOWELS = frozenset("aeiouy")


def kind_of(token: str) -> Kind | None:
    """The kind of abbreviation `token` is, guessed from its shape where it is not listed; None for a word.

    >>> kind_of("U.S"), kind_of("Schr"), kind_of("word")
    (<Kind.EITHER: 5>, <Kind.EITHER: 5>, None)
    """
    kind = KINDS.get(token)
    if kind is not None:
        return kind
    if (len(token) == 1 and token.isalpha()) or _INITIALISM.fullmatch(token):
        return Kind.EITHER
    # Without a vowel, and not in capitals, it is hardly a word: "Brgd.", "Schr.".
    if 1 < len(token) < 5 and token.isalpha() and token.isascii() and token[1:].islower():
        return None if _VOWELS.intersection(token.lower()) else Kind.EITHER
    return None


OPENERS: frozenset[str] = _words(
    """
    A About According Additionally After Afterwards Again All Also Although Among An And Another Any Anyone
    As At Based Because Before Beginning Between Born Both Built But By Currently Despite Due During Each
    Early Eventually Even Every Everyone Finally Following For Formerly Founded From Furthermore Given
    Having He Hence Her Here His How However I If In Indeed Initially Instead Is It Its Just Last Late Later
    Like Located Many Meanwhile More Moreover Most Much My Nearly Neither Nevertheless No None Nonetheless
    Nor Not Nothing Now Of Often On Once One Only Or Originally Other Others Our Overall Perhaps Previously
    Prior Raised Rather Recently Released Set Several She Should Similarly Since So Some Sometimes Soon
    Still Subsequently Such That The Their Then There Thereafter Therefore These They This Those Though
    Three Through Throughout Thus To Today Together Two Unfortunately Unlike Until Upon Usually Was We Were
    What When Whenever Where Whereas Whether Which While Who Whoever Why With Within Without Written Yet You
    Your
    """
)
"""Words that, with a capital, far more often open a sentence than carry on a name."""

INFORMAL_OPENERS: frozenset[str] = _words(
    """
    i it he she they we you this that these those there the but so then if
    """
)
"""Words that may open a sentence in writing without capitals."""

LETTER_HEADS: frozenset[str] = _words(
    """
    War Vitamin vitamin vitamins hepatitis Hepatitis Type type Class class Plan plan Grade grade Group group
    Appendix appendix Section section Part part Phase phase Serie Series Division Category category Schedule
    Title Block block Level level Model model Route Line Channel channel Volume Book Act Scene Factor Point
    point Side side Area Bowl hypothesis am is was than do did have had will would could should can as
    """
)
"""Words after which a single capital is a label or a pronoun and not an initial: "vitamin C", "than I"."""

FINAL_FOLLOWERS: frozenset[str] = _words(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Tues Wed Thu Thurs Fri Sat Sun January
    February March April May June July August September October November December GMT UTC BST CET CEST EST
    EDT ET CST CDT CT MST MDT MT PST PDT PT IST JST KST HKT AEST AEDT MSK HST AKST Eastern Central Mountain
    Pacific Greenwich Atlantic CEO CFO COO CTO Chairman Chairwoman Chair Chief President Vice Founder
    Executive Director Ltd Inc LLC Co Corp UK USA United Area Route Metro Metropolitan Circuit Council
    Statehood
    """
)
"""Capitalised words that carry on a time of day, a company or a district: "8 p.m. Eastern", "D.C. United"."""

RULERS: frozenset[str] = _words(
    """
    King Queen Emperor Empress Tsar Czar Kaiser Sultan Pope Pharaoh Shah Prince Duke reign rule
    """
)
"""Words two before a single capital that make it a number: "Queen Elizabeth I"."""

EXCLAIMED_NAMES: frozenset[str] = _words(
    """
    Yahoo Jeopardy Oh Wham Ho Jeb Kahoot Panic Shazam
    """
)
"""Names spelt with an exclamation mark, and often followed by another capital: "Yahoo! Inc."."""

SAYING_VERBS: frozenset[str] = _words(
    """
    said says asked asks replied answered cried shouted exclaimed whispered yelled
    """
)
"""Verbs that tie a quotation to the name after it: '"Et tu?" Caesar asked.'."""

CONNECTORS: frozenset[str] = _words(
    """
    a an the of and or nor but in on at to by for from with as into than that which who is was are were his
    her its their
    """
)
"""Words no heading ends in."""

DOMAIN_ENDINGS: frozenset[str] = _words(
    """
    com org net edu gov mil int info biz io co uk us eu de fr tv fm js py ts md txt pdf html htm php exe
    """
)
"""Endings of host and file names, which a capital does not turn into a new sentence."""
