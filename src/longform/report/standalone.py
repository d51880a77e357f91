"""The style of a plot that is a file of its own: plain colours, for programs that know no variables and no dark."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["standalone_css"]

_CSS = Path(__file__).parent / "static" / "plots.css"
_RULE = re.compile(r"(?P<selector>[^{}]+)\{(?P<body>[^{}]*)\}")


def standalone_css() -> str:
    """``plots.css`` with its light colours in place of every variable.

    >>> "var(" in standalone_css(), "light-dark" in standalone_css(), ".plot .c0.curve" in standalone_css()
    (False, False, True)
    """
    text = re.sub(r"/\*.*?\*/", "", _CSS.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"light-dark\(([^,]+),[^)]+\)", r"\1", text)
    variables = dict(re.findall(r"(--plot-[\w-]+): ([^;]+);", text))
    text = re.sub(r"var\((--plot-[\w-]+)\)", lambda found: variables[found[1]], text)
    rules = [".plot { background: #ffffff; }"]
    for found in _RULE.finditer(text):
        selector, lines = found["selector"].strip(), [line.strip() for line in found["body"].split(";")]
        series = next((line.partition(":")[2].strip() for line in lines if line.startswith("--series:")), None)
        if series is not None:
            rules.append(f"{selector}.curve {{ stroke: {series}; }}")
            rules.append(f"{selector}.mark, {selector}.fill {{ fill: {series}; }}")
        elif kept := [line for line in lines if line and "--" not in line]:
            rules.append(f"{selector} {{ {'; '.join(kept)}; }}")
    return "\n".join(rules)
