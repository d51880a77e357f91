"""What the calibrating tools share: a logistic regression, and how well scores tell two kinds apart."""

from __future__ import annotations

from typing import Any

import numpy as np


def area(scores: Any, labels: Any) -> float:
    """The area under the curve: the probability that one labelled 1 scores above one labelled 0."""
    good, bad = scores[labels == 1], scores[labels == 0]
    return float(((good[:, None] > bad[None]) + 0.5 * (good[:, None] == bad[None])).mean())


def logistic(features: Any, labels: Any, ridge: float) -> Any:
    """Newton's method for a logistic regression with an intercept."""
    design = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-design @ weights))
        step = np.linalg.solve(
            design.T @ (design * (odds * (1 - odds))[:, None]) + ridge * np.eye(len(weights)),
            design.T @ (labels - odds) - ridge * weights,
        )
        weights = weights + step
    return weights
