"""What requests and replies look like: these become the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from longform.answer.pipeline import MOST_CHARACTERS

__all__ = [
    "AskRequest",
    "ChatMessage",
    "ChatRequest",
    "ErrorReply",
    "FeedbackRequest",
    "HistoryTurn",
    "OpenAiErrorReply",
    "ScoreRequest",
    "SearchRequest",
]

Question = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS, description="The question.")]
IndexName = Annotated[str | None, Field(max_length=200, description="A name of /v1/indexes; the default without.")]
Passages = Annotated[int | None, Field(ge=1, le=200, description="How many passages.")]
MOST_TURNS = 50


class _Shape(BaseModel):
    # A field that is misspelt is told and not passed over.
    model_config = ConfigDict(extra="forbid", validate_by_name=True, validate_by_alias=True)


class HistoryTurn(_Shape):
    """A question that was asked before, and its answer; with the answer's `id` the server knows its passages too."""

    question: Question
    answer: str = Field(default="", max_length=100_000)
    id: str | None = Field(default=None, max_length=64)


class AskRequest(_Shape):
    """A question."""

    question: Question
    index: IndexName = None
    model: str | None = Field(default=None, max_length=500, description="One of `models` in /v1/indexes.")
    k: Passages = None
    words: int | None = Field(default=None, ge=1, le=2000, description="About how long the answer is.")
    rerank: bool = Field(default=True, description="Whether the passages found are ordered anew by the re-ranker.")
    as_list: bool = Field(
        default=False, alias="list", description="Answer with a list, for a question with many answers."
    )
    history: list[HistoryTurn] = Field(default_factory=list[HistoryTurn], max_length=MOST_TURNS)
    stream: bool = Field(
        default=False, description="Answer as server-sent events: start, hits, text, answer, or error."
    )


class SearchRequest(_Shape):
    """A question to search for."""

    question: Question
    index: IndexName = None
    k: Passages = None
    mode: Literal["bm25", "dense", "hybrid"] | None = None
    rerank: bool = False


class FeedbackRequest(_Shape):
    """What somebody thinks of an answer."""

    answer_id: str = Field(max_length=64)
    rating: Literal[1, -1]
    reason: str = Field(default="", max_length=2000)
    correction: str = Field(default="", max_length=20_000, description="A better answer.")


class ScoreRequest(_Shape):
    """Predictions, and what they are scored against, in the form of the benchmark's own files."""

    task: Literal["asqa", "nq", "kilt", "qampari", "alce", "retrieval"]
    predictions: Any
    gold: Any = None
    split: str = Field(default="dev", max_length=100, description="asqa: of a whole ASQA.json.")
    qa: dict[str, str | list[str]] | None = Field(default=None, description="asqa: what a reader found in the answers.")
    dataset: Literal["asqa", "eli5", "qampari"] = Field(default="asqa", description="alce: which of its tasks.")
    subset: bool = Field(default=False, description="Score only what has a prediction.")
    measures: list[str] = Field(
        default_factory=list[str], max_length=20, description="retrieval: as ir_measures names them."
    )
    resamples: int = Field(default=1000, ge=10, le=10_000)
    seed: int = Field(default=0, ge=0, le=2**32 - 1)
    items: bool = Field(default=False, description="Also give the values of every item.")


class ChatPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="ignore")
    type: str = "text"
    text: str = Field(default="", max_length=100_000)


class ChatMessage(BaseModel):
    """A message of a conversation, as OpenAI has it."""

    model_config = ConfigDict(extra="ignore")
    role: str = Field(max_length=50)
    content: str | list[ChatPart] | None = None

    @property
    def text(self) -> str:
        """What it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class ChatRequest(BaseModel):
    """A conversation whose last message is a question; what else OpenAI's clients send is taken and not used."""

    model_config = ConfigDict(extra="ignore")
    model: str = Field(
        default="longform", max_length=500, description="`longform`, a model, or a collection of /v1/models."
    )
    messages: list[ChatMessage] = Field(min_length=1, max_length=2 * MOST_TURNS)
    stream: bool = False


class ErrorDetail(BaseModel):
    """One sentence, and whose affair it is."""

    message: str
    type: Literal["input", "busy", "time", "failure"]


class ErrorReply(BaseModel):
    """Every error."""

    error: ErrorDetail


class OpenAiErrorDetail(BaseModel):
    """One sentence, and what OpenAI's clients look at."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiErrorReply(BaseModel):
    """Every error of the routes that OpenAI's clients use."""

    error: OpenAiErrorDetail
