"""The part of the page that shows questions: the systems' answers side by side, the gold, the passages."""

from __future__ import annotations

from collections.abc import Sequence

from longform.report.bounds import ROLES
from longform.report.examples import ShownAnswer, ShownExample
from longform.report.markup import Markup, joined, tag
from longform.report.shading import Piece

__all__ = ["examples_section"]

_LONG = 900


def examples_section(shown: Sequence[ShownExample], prefix: str) -> Markup:
    """All chosen questions of a dataset, and what picks among them; without a script all are shown."""
    if not shown:
        return Markup("")
    systems = {answer.system: answer.role for one in shown for answer in one.answers}
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", value=system, checked=role is None, autocomplete="off"),
            tag("span", system),
        )
        for system, role in systems.items()
    ]
    options = [tag("option", one.example.question, value=f"{prefix}-e{place}") for place, one in enumerate(shown)]
    picker = tag(
        "form",
        tag(
            "div",
            tag(
                "label",
                "Find ",
                tag("input", type="search", class_="find", placeholder="words of a question", autocomplete="off"),
            ),
            tag("label", "Question ", tag("select", *options, class_="pick", autocomplete="off")),
            tag("button", "← Before", type="button", class_="before"),
            tag("button", "Next →", type="button", class_="next"),
            tag("button", "Show all", type="button", class_="every", aria_pressed="false"),
            class_="row",
        ),
        tag("fieldset", tag("legend", "Systems"), *boxes, class_="row systems"),
        tag("p", "", class_="note found", role="status"),
        class_="picker",
        hidden=True,
    )
    note = tag(
        "p",
        tag("span", "Shaded", class_="ungrounded"),
        " words stand in none of the passages that the answer was made from (stop words aside). ",
        "Numbers in brackets are the answer's citations and lead to the passages.",
        class_="note",
    )
    articles = [_example(one, f"{prefix}-e{place}") for place, one in enumerate(shown)]
    return tag("section", tag("h3", "Examples"), note, picker, *articles, class_="examples", id=f"{prefix}-examples")


def _example(shown: ShownExample, identifier: str) -> Markup:
    example = shown.example
    gold: list[str] = [tag("li", tag("p", text, dir="auto"), class_="reference") for text in example.long_answers]
    parts: list[str] = [
        tag("h4", example.question, dir="auto", tabindex="-1"),
        tag("p", f"{example.id} · {shown.why}", class_="note"),
    ]
    if gold:
        parts.append(tag("details", tag("summary", f"References ({len(gold)})"), tag("ul", *gold), open=True))
    if example.readings:
        terms = [
            joined([tag("dt", one.question), tag("dd", " · ".join(one.short_answers))]) for one in example.readings
        ]
        parts.append(tag("details", tag("summary", f"Readings ({len(terms)})"), tag("dl", *terms, class_="terms")))
    elif example.short_answers:
        parts.append(tag("p", tag("b", "Short answers: "), "; ".join(" / ".join(one) for one in example.short_answers)))
    answers = [_answer(answer, identifier) for answer in shown.answers]
    parts.append(tag("div", *answers, class_="answers"))
    if shown.passages:
        items = [
            tag(
                "li",
                tag("b", one.title or "untitled"),
                " ",
                tag("span", one.text, dir="auto"),
                id=f"{identifier}-p{one.number}",
                value=str(one.number),
                tabindex="-1",
            )
            for one in shown.passages
        ]
        fold = tag("details", tag("summary", f"Passages ({len(items)})"), tag("ol", *items), class_="passages")
        parts.append(fold)
    return tag("article", *parts, id=identifier, class_="card example")


def _answer(answer: ShownAnswer, identifier: str) -> Markup:
    if answer.pieces:
        told: list[str] = [_piece(piece, answer, identifier) for piece in answer.pieces]
        if answer.cut:
            told.append(tag("span", f" … and {answer.cut:,} more characters", class_="note"))
    else:
        told = [tag("em", "no answer")]
    chips: list[str] = [tag("span", f"{heading} {value}", class_="chip score") for heading, value in answer.scores]
    if answer.role is not None:
        chips.append(tag("span", ROLES[answer.role], class_=f"chip {answer.role}"))
    if not answer.has_passages:
        chips.append(tag("span", "without passages", class_="chip"))
    name = f"Answer of {answer.system}"
    long = sum(len(piece.text) for piece in answer.pieces) > _LONG
    # A long one scrolls by itself, so that the keyboard must reach it.
    box = (
        tag("div", *told, class_="answer long", dir="auto", tabindex="0", role="group", aria_label=name)
        if long
        else tag("div", *told, class_="answer", dir="auto")
    )
    parts: list[str] = [tag("h5", answer.system), box]
    if answer.found:
        marks = [
            tag(
                "li",
                tag("span", "✓ " if named else "✗ ", aria_hidden="true"),
                tag("span", "named: " if named else "missing: ", class_="unseen"),
                name,
                class_="named" if named else "missing",
            )
            for name, named in answer.found
        ]
        parts.append(tag("ul", *marks, class_="named-list", aria_label="Short answers"))
    parts += [tag("p", warning, class_="note") for warning in answer.warnings]
    parts.append(tag("p", *chips, class_="chips"))
    return tag("section", *parts, class_="said", data_system=answer.system)


def _piece(piece: Piece, answer: ShownAnswer, identifier: str) -> Markup:
    if piece.kind == "ungrounded":
        return tag("span", piece.text, class_="ungrounded")
    if piece.kind == "citation":
        known = [number for number in piece.passages if 1 <= number <= len(answer.passages)]
        if known and len(piece.passages) == 1:
            return tag("a", piece.text, href=f"#{identifier}-p{answer.passages[known[0] - 1]}", class_="cite")
        # A list or a range of citations: each number gets its own way.
        links = [
            tag("a", f"[{number}]", href=f"#{identifier}-p{answer.passages[number - 1]}", class_="cite")
            for number in known
        ]
        return joined(links) if links and len(known) == len(piece.passages) else tag("span", piece.text, class_="cite")
    return joined([piece.text])
