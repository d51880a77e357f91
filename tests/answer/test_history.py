"""Follow-up questions: conversations over the example pages, and what must never happen to a question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import FailureError, Hit, Index, read
from longform.answer.history import MOST_CHARACTERS, Resolved, Turn, leans, resolve, rewrite_with
from longform.models.language import Message
from longform.records import Answer, AnswerSentence, Passage

KINGS = ("Charles X was King of France from", "Louis Philippe I was the only king")
KONG = ("The 2005 King Kong was directed by Peter Jackson", "The 1933 King Kong was directed by")
HALLELUJAH = ("Hallelujah is a song by the Canadian poet", "Leonard Cohen first recorded Hallelujah")
EVEREST = ("Edmund Hillary and Tenzing Norgay made the first", "Junko Tabei of Japan became the first woman")
SPACE = ("The Soviet cosmonaut Yuri Gagarin became", "The Soviet cosmonaut Valentina Tereshkova became")
DESERTS = ("Antarctica, with about 14 million", "The Sahara in northern Africa")
BRITISH = (
    "George V died at Sandringham",
    "Edward VIII was king from 20 January",
    "George VI, the younger brother of Edward",
)
NOBEL = ("Linus Pauling received the Nobel Prize", "Marie Curie shared the Nobel Prize in Physics in 1903")

# What is typed, as what it is to be understood, and the openings of the sentences that answer it.
CONVERSATIONS: list[list[tuple[str, str, tuple[str, ...]]]] = [
    [  # A person that the answer named, kept over turns that only ask.
        ("Who was the king of France in 1830?", "Who was the king of France in 1830?", KINGS),
        ("When did he die?", "When did Charles X die?", ()),
        ("And where?", "Where did Charles X die?", ()),
        ("What about his coronation?", "What about Charles X's coronation?", ()),
    ],
    [  # A role is no name.
        ("Who was King of France in 1830?", "Who was King of France in 1830?", KINGS),
        ("When did he die?", "When did Charles X die?", ()),
        ("Who was Louis Philippe?", "Who was Louis Philippe?", KINGS),
        ("When did he die?", "When did Louis Philippe die?", ()),
    ],
    [  # Years, one after another, and a time that is only pointed at.
        ("Who was the king of France in 1830?", "Who was the king of France in 1830?", KINGS),
        ("And in 1848?", "Who was the king of France in 1848?", ()),
        ("Who was pope then?", "Who was pope in 1848?", ()),
    ],
    [
        ("Who was the king of France in 1830?", "Who was the king of France in 1830?", KINGS),
        ("What about Belgium?", "Who was the king of Belgium in 1830?", ()),
    ],
    [
        ("Who was the German emperor in 1888?", "Who was the German emperor in 1888?", ()),
        ("and the pope?", "Who was the pope in 1888?", ()),
        ("In 1978?", "Who was the pope in 1978?", ()),
    ],
    [  # Another subject in between is no obstacle.
        ("When did Charles X abdicate?", "When did Charles X abdicate?", ("Charles X reigned until 2 August",)),
        ("What is the capital of Georgia?", "What is the capital of Georgia?", ("Tbilisi is the capital",)),
        ("Where did he die?", "Where did Charles X die?", ()),
        ("Of what?", "Where did Charles X die, and of what?", ()),
    ],
    [
        ("When did Charles X abdicate?", "When did Charles X abdicate?", ()),
        ("Why?", "Why did Charles X abdicate?", ()),
        ("When was that?", "When did Charles X abdicate?", ()),
    ],
    [  # The answer to "who" is "he", what it was asked about is "it".
        ("Who directed King Kong?", "Who directed King Kong?", KONG),
        ("What else did he make?", "What else did Peter Jackson make?", ()),
    ],
    [
        ("Who directed King Kong?", "Who directed King Kong?", KONG),
        ("When was it released?", "When was King Kong released?", ()),
        ("Which building does it climb at the end?", "Which building does King Kong climb at the end?", ()),
        ("Was this film a success?", "Was the film King Kong a success?", ()),
    ],
    [
        ("Who sang Hallelujah?", "Who sang Hallelujah?", HALLELUJAH),
        ("When did he record it?", "When did Leonard Cohen record Hallelujah?", ()),
        ("Which film uses it?", "Which film uses Hallelujah?", ()),
    ],
    [
        ("Who won the World Cup in 2019?", "Who won the World Cup in 2019?", ("South Africa won the Rugby World Cup",)),
        ("And in 2011?", "Who won the World Cup in 2011?", ()),
        ("Where was it held?", "Where was the World Cup in 2011 held?", ()),
    ],
    [
        ("Who won the 2011 World Cup?", "Who won the 2011 World Cup?", ()),
        ("What about 2019?", "Who won the 2019 World Cup?", ()),
    ],
    [  # Ranks.
        ("Who won the first World Cup?", "Who won the first World Cup?", ("Uruguay was the host of the first",)),
        ("And the second?", "Who won the second World Cup?", ()),
        ("Where was that?", "Who won the second World Cup, and where was that?", ()),
        ("In which year?", "Who won the second World Cup, and in which year?", ()),
    ],
    [  # The answer to "what" is "it"; two people are "they".
        (
            "What is the highest mountain in the world?",
            "What is the highest mountain in the world?",
            ("Mount Everest is the highest mountain above",),
        ),
        ("How high is it?", "How high is Mount Everest?", ()),
        ("Who climbed it first?", "Who climbed Mount Everest first?", EVEREST),
        ("Did they use oxygen?", "Did Edmund Hillary and Tenzing Norgay use oxygen?", ()),
    ],
    [
        (
            "Who was the first to climb Mount Everest?",
            "Who was the first to climb Mount Everest?",
            EVEREST,
        ),
        ("And the first woman?", "Who was the first woman to climb Mount Everest?", EVEREST[1:]),
        ("When was that?", "Who was the first woman to climb Mount Everest, and when was that?", ()),
    ],
    [
        ("Who was the first in space?", "Who was the first in space?", SPACE),
        ("What did she do before that?", "Who was the first in space, and what did she do before that?", ()),
    ],
    [
        ("Who was the first in space?", "Who was the first in space?", SPACE),
        ("And the first woman?", "Who was the first woman in space?", SPACE[1:]),
        ("When did she fly?", "When did Valentina Tereshkova fly?", ()),
        ("How many times did she circle the Earth?", "How many times did Valentina Tereshkova circle the Earth?", ()),
    ],
    [  # Nothing has a name: both questions together stand alone.
        ("Who made the first spacewalk?", "Who made the first spacewalk?", ("Alexei Leonov made the first spacewalk",)),
        ("When?", "Who made the first spacewalk, and when?", ()),
        ("How long did it last?", "Who made the first spacewalk, and how long did it last?", ()),
        ("Did he fly again?", "Did Alexei Leonov fly again?", ()),
    ],
    [
        ("Where does the Nile begin?", "Where does the Nile begin?", ("The Nile has two main branches",)),
        ("How long is it?", "How long is the Nile?", ()),
        ("What about the Amazon?", "How long is the Amazon?", ()),
        ("Which is its most distant source?", "Which is the Amazon's most distant source?", ()),
    ],
    [
        ("What is the capital of Georgia?", "What is the capital of Georgia?", ("Tbilisi is the capital",)),
        ("Who are its neighbours?", "Who are Georgia's neighbours?", ("Its neighbours are Russia",)),
        ("What money do they use there?", "What money do they use in Georgia?", ()),
        ("And South Africa?", "What money do they use in South Africa?", ()),
    ],
    [  # What has no capital.
        ("Who invented the telephone?", "Who invented the telephone?", ("The German teacher Philipp Reis",)),
        ("And the electric light?", "Who invented the electric light?", ()),
        ("When was that?", "Who invented the electric light, and when was that?", ()),
    ],
    [
        ("Which planets have rings?", "Which planets have rings?", ("All four giant planets",)),
        ("What are they made of?", "Which planets have rings, and what are they made of?", ()),
        ("What about Saturn?", "Which planets have rings, and what about Saturn?", ()),
    ],
    [  # A rank finds its place in an earlier question.
        ("Who was the last man on the Moon?", "Who was the last man on the Moon?", ("Gene Cernan, its commander",)),
        ("When did he leave it?", "When did Gene Cernan leave the Moon?", ()),
        ("And the first?", "Who was the first man on the Moon?", ()),
    ],
    [
        (
            "Who was king of England in 1066?",
            "Who was king of England in 1066?",
            ("William the Conqueror was Duke of Normandy",),
        ),
        ("Who succeeded him?", "Who succeeded William the Conqueror?", ()),
        ("How did he die?", "How did William the Conqueror die?", ()),
    ],
    [  # Of several people it is the one of whom the pages say what is asked.
        ("Who was the British king in 1936?", "Who was the British king in 1936?", BRITISH),
        ("Why did he abdicate?", "Why did Edward VIII abdicate?", BRITISH[1:2]),
        ("Whom did he marry?", "Whom did Edward VIII marry?", ()),
        ("When did that happen?", "Whom did Edward VIII marry, and when did that happen?", ()),
    ],
    [
        ("Who has won two Nobel Prizes?", "Who has won two Nobel Prizes?", NOBEL),
        ("For what?", "Who has won two Nobel Prizes, and for what?", NOBEL),
        ("When did she win the second?", "When did Marie Curie win the second?", ()),
    ],
    [
        ("What is the largest desert in the world?", "What is the largest desert in the world?", DESERTS),
        ("And the second largest?", "What is the second largest desert in the world?", DESERTS),
        ("What about the driest?", "What is the driest desert in the world?", ("The Atacama in Chile is the driest",)),
        ("Where is it?", "Where is the Atacama?", ()),
    ],
    [
        (
            "Who played Rooster Cogburn in True Grit?",
            "Who played Rooster Cogburn in True Grit?",
            ("John Wayne played Rooster Cogburn",),
        ),
        ("Did he win an Oscar for it?", "Did John Wayne win an Oscar for True Grit?", ()),
    ],
    [
        ("Where were the 1936 Olympics held?", "Where were the 1936 Olympics held?", ("Berlin held the Summer",)),
        ("When did they open?", "When did the 1936 Olympics open?", ()),
        ("And the 1924 ones?", "When did the 1924 Olympics open?", ()),
        ("Who won the most medals there?", "Who won the most medals in the 1924 Olympics?", ()),
    ],
    [  # Typed without capitals.
        ("who was charles x", "who was charles x", KINGS[:1]),
        ("where did he die", "Where did Charles X die", KINGS),
        ("and louis philippe?", "Where did louis philippe die?", ()),
    ],
    [
        ("What was the July Revolution?", "What was the July Revolution?", ("The July Revolution was the rising",)),
        ("What caused it?", "What caused the July Revolution?", ()),
        ("What happened after that?", "What happened after the July Revolution?", ()),
        ("Tell me more", "What else is known about the July Revolution?", ()),
    ],
    [
        ("Who ruled Russia in 1917?", "Who ruled Russia in 1917?", ("Tsar Nicholas II ruled until",)),
        ("What did he do in March of that year?", "What did Tsar Nicholas II do in March of 1917?", ()),
        ("What happened next?", "What did Tsar Nicholas II do in March of 1917, and what happened next?", ()),
    ],
    [
        ("When did William the Conqueror die?", "When did William the Conqueror die?", ()),
        (
            "Where was he buried, and who was his wife?",
            "Where was William the Conqueror buried, and who was his wife?",
            (),
        ),
        ("Was he ever in London?", "Was William the Conqueror ever in London?", ()),
    ],
]

STANDS_ALONE = [
    "When did Charles X die, and where was he buried?",
    "What did Edward VIII do with his life?",
    "Is it true that Saturn has rings?",
    "How long does it take to reach the Moon?",
    "How many moons are there in the Solar System?",
    "Is there a tower in London?",
    "Who was the king that followed Charles X?",
    "Which ships that Cunard built burned?",
    "Who sang I Will Always Love You?",
    "Who wrote It Was a Very Good Year?",
    "And who wrote Hallelujah?",
    "What's tea?",
    "Who sings Hallelujah?",
    "Tea",
    "Did Charles X abdicate?",
    "who directed king kong",
    "Кто был королём Франции?",
    "",
]


@pytest.fixture(scope="module")
def passages(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Passage]:
    return list(Index.create(tmp_path_factory.mktemp("history") / "my.index", read(str(examples / "pages"))))


def answered(question: str, openings: Sequence[str], passages: Sequence[Passage]) -> Answer | None:
    """An answer of the sentences of the example pages that open so, citing them."""
    if not openings:
        return None
    sentences, hits = [], []
    for number, opening in enumerate(openings, 1):
        found = next(passage for passage in passages if opening in passage.text)
        start = found.text.index(opening)
        text = found.text[start : found.text.index(".", start + len(opening)) + 1]
        hits.append(Hit(found, number, 1.0))
        sentences.append(AnswerSentence(text, (number,), 1.0, True))
    text = " ".join(sentence.text for sentence in sentences)
    return Answer(question, text, tuple(sentences), tuple(hits), "extractive", 1.0)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda turns: f"{turns[0][0]} {turns[1][0]}")
def test_conversations(conversation: list[tuple[str, str, tuple[str, ...]]], passages: list[Passage]) -> None:
    history: list[Turn] = []
    for typed, understood, openings in conversation:
        resolved = resolve(typed, history)
        assert resolved.question == understood
        assert bool(resolved.reason) == (typed != understood)
        history.append(Turn(resolved.question, answered(resolved.question, openings, passages)))


@pytest.mark.parametrize("question", STANDS_ALONE)
def test_what_stands_alone_is_left(question: str, passages: list[Passage]) -> None:
    history = [Turn("Who was the king of France in 1830?", answered("", KINGS, passages)), Turn("Where is Victoria?")]
    assert resolve(question, history) == Resolved(question)
    assert not leans(question)


def test_the_example_questions_stand_alone(examples: Path) -> None:
    history = [Turn("When did Charles X abdicate in 1830?")]
    for line in (examples / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)["question"]
        if " her " not in question:
            assert resolve(question, history) == Resolved(question)


@pytest.mark.parametrize(
    "question", ["Where did he die?", "And in 1848?", "Why?", "Tell me more", "What about Belgium?"]
)
def test_without_a_history_nothing_is_changed(question: str) -> None:
    assert resolve(question, []) == Resolved(question)


def test_names_do_not_mix_up_people_and_things() -> None:
    history = [Turn("When did Louis Philippe succeed Charles X?")]
    assert (
        resolve("How did Wallis Simpson meet him?", history).question == "How did Wallis Simpson meet Louis Philippe?"
    )
    assert (
        resolve("When was it built?", [Turn("Who was the king?")]).question
        == "Who was the king, and when was it built?"
    )


def test_what_is_endless_is_left() -> None:
    long = "Did he " + "very " * MOST_CHARACTERS + "well?"
    assert resolve(long, [Turn("Who was Charles X?")]) == Resolved(long)
    assert resolve("Did he?", [Turn(f"Who was Charles X {'very ' * MOST_CHARACTERS}?")]) == Resolved("Did he?")


TYPED = """he she it they his her its their him them this that there then who what when where why how and or about in of
the first last second largest 1848 1830 Charles X Belgium King Kong France world Cup was did is are one year ? , . '"""
WORDS = st.sampled_from(TYPED.split())


@settings(deadline=None)
@given(st.lists(WORDS, max_size=9), st.lists(st.lists(WORDS, min_size=1, max_size=9), max_size=3))
def test_whatever_is_typed_is_resolved(typed: list[str], before: list[list[str]]) -> None:
    question = " ".join(typed)
    history = [Turn(" ".join(words)) for words in before]
    resolved = resolve(question, history)
    if not leans(question) or not history:
        assert resolved == Resolved(question)
    else:
        assert resolved.question.strip()
        assert resolved.reason
        assert len(resolved.question) <= len(question) + 2 * max(len(turn.question) for turn in history) + 60


@settings(deadline=None)
@given(st.text(max_size=60), st.text(min_size=1, max_size=60))
def test_any_text_is_resolved(question: str, before: str) -> None:
    resolved = resolve(question, [Turn(before)])
    assert leans(question) or resolved == Resolved(question)


class Says:
    """A language model that says what it was told to, or fails."""

    name, context = "parrot", 2048

    def __init__(self, *pieces: str, error: Exception | None = None) -> None:
        self.pieces, self.error = pieces, error
        self.asked: list[Message] = []

    def count(self, text: str) -> int:
        return len(text) // 3

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        self.asked = list(messages)
        yield from self.pieces
        if self.error is not None:
            raise self.error


HISTORY = [Turn("When did Charles X abdicate?")]
BY_RULES = "Where did Charles X die?"


@pytest.mark.parametrize(
    "pieces",
    [
        ("In which place did Charles X ", "die?"),
        ("Rewritten question: In which place did Charles X die?\nIt was Görz.",),
        ('"In which place did Charles X die?"',),
    ],
)
def test_a_language_model_rewrites(pieces: tuple[str, ...]) -> None:
    model = Says(*pieces)
    # "place" is a word that nobody said: it would be refused, were it not asked for.
    history = [Turn("At which place did Charles X abdicate?")]
    resolved = resolve("Where did he die?", history, partial(rewrite_with, model))
    assert resolved == Resolved("In which place did Charles X die?", "rewritten by parrot")
    assert "Where did he die?" in model.asked[-1].content
    assert history[0].question in model.asked[-1].content


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        ("  \n ",),
        ("Charles X died at Görz.",),
        ("Where did Charles X die, " * 40 + "?",),
        ("Where did he die?",),
        ("Which bank account shall be emptied?",),
        ("Where did Charles X die in Vienna?",),
    ],
)
def test_what_is_of_no_use_is_left_to_the_rules(pieces: tuple[str, ...]) -> None:
    assert resolve("Where did he die?", HISTORY, partial(rewrite_with, Says(*pieces))).question == BY_RULES


def test_a_model_that_fails_is_done_without() -> None:
    failing = Says("Where did", error=FailureError("The endpoint is down."))
    assert resolve("Where did he die?", HISTORY, partial(rewrite_with, failing)).question == BY_RULES


def test_a_model_is_not_asked_about_what_stands_alone() -> None:
    model = Says("What did Charles X eat?")
    assert resolve(BY_RULES, HISTORY, partial(rewrite_with, model)) == Resolved(BY_RULES)
    assert model.asked == []
