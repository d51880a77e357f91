"""Answers: from a question and passages to a paragraph, or a list, with a citation behind every sentence."""

from __future__ import annotations

from longform.answer.protocol import Answerer, finish

__all__ = ["Answerer", "finish"]
