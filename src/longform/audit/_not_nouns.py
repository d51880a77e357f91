"""Common English words that are no nouns, for :mod:`longform.audit.telling`: verbs, adjectives, adverbs.

Words that are as often a noun ("play", "work", "present", "human") are not among them: a word in no list is a noun.
"""

from __future__ import annotations

__all__ = ["NOT_NOUNS", "NUMBER_WORDS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERBS = _words(
    """
    accept achieve acquire act add adopt affect agree allow announce appear apply appoint argue arise arrive ask assume
    attend avoid base become begin believe belong break bring build buy call carry cause choose claim come compete
    complete compose concern confirm consider consist contain continue convert cover create cut decide declare defeat
    define depend derive describe design destroy determine develop die differ direct discover draw drive earn eat elect
    enable encourage end enter establish exist expand expect explain fail fall feature feel fight fill find finish fly
    follow force form found gain get give go grow happen hear help hold hope host identify imagine improve include
    increase indicate inspire intend introduce invent involve join keep kill know land last launch lead learn leave let
    like live look lose love maintain make marry mean meet mention mention move name need note obtain occur offer open
    operate organize own pass pay perform please portray prefer prevent produce propose protect prove provide publish
    put reach read receive recognize record reduce refer reflect refuse regard reign reject relate release remain
    remember remove replace represent require resign retain retire return reveal rise run say see seek seem sell send
    separate serve set share show sign sing sit speak spend stand star start stay stop succeed suffer suggest support
    suppose take talk teach tell tend think throw tie travel treat try turn understand use vary voice wait walk want
    watch wear win wish write
    """
)
_NOUNS_TOO = _words(
    """
    act base break call cause claim concern cover cut design drive end fall feature fight finish force form gain help
    host hope increase land launch lead love move name need note offer play record reign release return rise run set
    share show sign star start stop support talk travel turn use voice wait walk watch wear win wish work like try
    """
)
_IRREGULAR = _words(
    """
    arose ate became begun began bought broke broken brought built came chose chosen did done drawn drew driven drove
    fallen fell felt flew flown forgot forgotten fought gave given gone got gotten grew grown heard held kept knew known
    laid lay led left lent lost made meant met paid proven ran read risen rose said sang sat saw seen sent shown sold
    sought spent spoke spoken stood sung taken taught thought threw thrown told took understood went were woke won wore
    worn written wrote cannot may might let lets
    """
)
_ADJECTIVES = _words(
    """
    able academic actual additional alive alone ancient annual available average aware bad basic beautiful best better
    big bigger biggest black blue brief bright brown busy central certain cheap clear clever close closed closer cold
    common complete contemporary cool correct current daily dark dead deep different difficult direct distinct double
    due early earlier earliest easy easier eastern effective eight elder eligible empty enough entire equal exact
    existing external extra fair false famous far fast faster favourite few fewer final fine first flat following
    foreign former formal free frequent fresh full further general gentle giant global golden good grand gray great
    greater greatest green grey half happy hard healthy heavy heavier high higher highest hot huge ideal important inner
    internal joint junior key large larger largest late later latest least less lesser likely little live local long
    longer longest low lower lowest main major many married maximum mere mild minimum minor mixed modern multiple mutual
    narrow nearby neat necessary new newer next nice normal northern notable novel odd old older oldest only open orange
    original other outer own particular past perfect permanent physical plain poor popular possible precise present
    previous primary prime prior private proper pure quick quiet ranked rapid rare raw ready real recent red regular
    related remote rich right rough round royal safe same second secondary senior separate serious several severe sharp
    short shorter shortest similar simple single slight slow small smaller smallest smooth so-called soft sole solid
    southern special specific stable standard steady still straight strange strict strong stronger strongest subsequent
    such sudden sufficient suitable supposed sure surprising sweet tall taller tallest terrible thick thin third tight
    tiny top total true typical ultimate unable unique unlike upper usual various vast very vital warm weak well western
    wet whole wide wild wise worse worst worth wrong yellow young younger youngest
    """
)
_ADVERBS = _words(
    """
    abroad again ago ahead almost along already also although altogether always among amongst anyway apart around as
    aside away back behind besides beyond briefly despite either else elsewhere et etc even ever every everywhere
    except far forth forward hence however indeed instead likewise maybe meanwhile moreover much near neither never
    nevertheless nonetheless nor not now nowadays often once otherwise per perhaps plus quite rather regardless
    respectively seldom since sometimes somewhat soon still therefore thereby thereafter though throughout thus together
    too twice upon via versus vs well whatever whenever whereas wherever wherein whichever whoever whose why yet across
    along amid around behind beneath beside inside like near onto opposite outside past till toward underneath another
    anybody anyone anything everybody everyone everything nobody none nothing somebody someone something one ones
    us yes i'm don't
    """
)


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb[-1] == "y" and verb[-2] not in "aeiou" else f"{verb}s"


_ONLY_VERBS = _VERBS - _NOUNS_TOO

NOT_NOUNS: frozenset[str] = (
    _ONLY_VERBS | frozenset(map(_third_person, _ONLY_VERBS)) | _IRREGULAR | _ADJECTIVES | _ADVERBS
)

NUMBER_WORDS: frozenset[str] = _words(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    """
)
"""Numbers as words; "one" is more often a pronoun."""
