"""Drawing by hand: elements of SVG, axes, and how wide a text is.

Colours come from the classes of ``static/plots.css``, so that a drawing follows the page's light and dark; nothing is
styled by attributes, which a strict Content-Security-Policy refuses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from longform.report.standalone import standalone_css

__all__ = ["SIZE", "Drawing", "element", "nice_ticks", "number", "shortened", "shortened_apart", "text_width"]

SIZE = 12.0
"""The size of the letters, in the units of the drawing."""

_NARROW = frozenset("iIjlt.,:;'|!()[]{}1f/-r ")
_WIDE = frozenset("mwMW@%—…QOGCD")


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is; rather too wide than too narrow, as every font is another.

    >>> text_width("iii") < text_width("nnn") < text_width("mmm")
    True
    """
    wide = sum(0.42 if letter in _NARROW else 0.95 if letter in _WIDE else 0.62 for letter in text)
    return wide * size


def shortened_apart(texts: Sequence[str], width: float, size: float = SIZE) -> dict[str, str]:
    """Each text :func:`shortened`, cut elsewhere where two would come to be the same.

    >>> shortened_apart(["a-long-name-one-of-it", "a-long-name-two-of-it"], 60)
    {'a-long-name-one-of-it': '…ne-of-it', 'a-long-name-two-of-it': '…o-of-it'}
    """
    found: dict[str, str] = {}
    for head in (0.5, 0.25, 0.75, 0.1, 0.9):
        found = {text: shortened(text, width, size, head) for text in texts}
        if len(set(found.values())) == len(found):
            break
    return found


def shortened(text: str, width: float, size: float = SIZE, share: float = 0.5) -> str:
    """The text, cut in the middle where it is wider: systems differ at both ends of their names.

    ``share`` is how much of what is kept stands before the cut.

    >>> shortened("longest-training-answer@7", 100)
    'longe…swer@7'
    """
    if text_width(text, size) <= width:
        return text
    kept = len(text)
    while kept > 2:
        kept -= 1
        head = int(kept * share)
        short = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(short, size) <= width:
            return short
    return "…"


def number(value: float) -> str:
    """A number as short as a drawing needs it.

    >>> number(3.0), number(2.346), number(-0.001)
    ('3', '2.35', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(tag: str, inner: str = "", /, **attributes: str | float) -> str:
    """An element; ``inner`` is markup, attributes are escaped, ``class_`` and ``text_anchor`` become what SVG has.

    >>> element("line", x1=0, x2=1.5, class_="grid")
    '<line x1="0" x2="1.5" class="grid"/>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else number(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from at most ``low`` to at least ``high``, about ``count`` of them.

    >>> nice_ticks(0, 97), nice_ticks(0.2, 0.9)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.2, 0.4, 0.6, 0.8, 1.0])
    """
    # Numbers that differ by rounding alone are one number.
    span = high - low if high - low > 1e-9 * max(1.0, abs(high)) else (abs(high) if abs(high) > 1e-9 else 1.0)
    rough = span / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil((low + span) / step - 1e-9)
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [round(place * step, digits) for place in range(first, last + 1)]


@dataclass
class Drawing:
    """An SVG image in the making, with the title and the description that a screen reader says."""

    name: str
    title: str
    description: str
    width: float
    height: float
    parts: list[str] = field(default_factory=list)

    def add(self, tag: str, inner: str = "", /, **attributes: str | float) -> None:
        """Add an element; ``inner`` is markup."""
        self.parts.append(element(tag, inner, **attributes))

    def text(self, x: float, y: float, text: str, /, **attributes: str | float) -> None:
        """Add a text, escaped."""
        self.add("text", escape(text), x=x, y=y, **attributes)

    def svg(self, *, standalone: bool = False) -> str:
        """The image: a part of the page, or a file of its own with its style inside."""
        ids = f"{self.name}-title", f"{self.name}-about"
        # Not aria-labelledby alone: some readers ignore titles of inline images that have no role.
        opening = element(
            "svg",
            "\n",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {number(self.width)} {number(self.height)}",
            width=self.width,
            height=self.height,
            role="img",
            class_="plot",
            aria_labelledby=" ".join(ids),
        ).removesuffix("\n</svg>")
        style = f"<style>{standalone_css()}</style>" if standalone else ""
        return "\n".join(
            [
                opening,
                element("title", escape(self.title), id=ids[0]),
                element("desc", escape(self.description), id=ids[1]),
                *([style] if style else []),
                *self.parts,
                "</svg>",
            ]
        )
