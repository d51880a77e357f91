"""Where the time goes: seconds a question by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from longform.report.gather import DatasetRuns
from longform.report.plot import WIDTH, Plot, add_key, key_height, series_class
from longform.report.svg import SIZE, Drawing, nice_ticks, shortened_apart, text_width

__all__ = ["mean_seconds", "timing"]

_ROW, _BAR, _LABELS, _TOP = 24.0, 14.0, 128.0, 8.0
_OTHER, _TOTAL = "other", "total"


def mean_seconds(rows: Iterable[Mapping[str, object]]) -> dict[str, float]:
    """The mean over questions of each stage's seconds; ``other`` is what the stages leave of the total.

    >>> mean_seconds([{"seconds": {"search": 1.0, "total": 4.0}}, {"seconds": {"search": 2.0, "total": 4.0}}])
    {'search': 1.5, 'other': 2.5}
    """
    sums: dict[str, float] = {}
    count = 0
    for row in rows:
        seconds = row.get("seconds")
        if not isinstance(seconds, Mapping) or _TOTAL not in seconds:
            continue
        count += 1
        stages = {stage: float(value) for stage, value in seconds.items() if stage != _TOTAL}
        left = max(0.0, float(seconds[_TOTAL]) - sum(stages.values()))
        for stage, value in (*stages.items(), (_OTHER, left)):
            sums[stage] = sums.get(stage, 0.0) + value
    means = {stage: value / count for stage, value in sums.items()}
    return {**{stage: value for stage, value in means.items() if stage != _OTHER}, **_last(means)}


def timing(dataset: DatasetRuns, name: str) -> Plot | None:
    """Stacked bars for the systems that take any time worth showing."""
    found = {entry.system: mean_seconds(entry.run.rows.values()) for entry in dataset.entries}
    found = {system: seconds for system, seconds in found.items() if len(seconds) > 1}
    longest = max((sum(seconds.values()) for seconds in found.values()), default=0.0)
    if not longest:
        return None
    stages = list(dict.fromkeys(stage for seconds in found.values() for stage in seconds if stage != _OTHER))
    stages.append(_OTHER)
    left = 8 + min(_LABELS, max(text_width(system) for system in found)) + 6
    right = WIDTH - 56
    ticks = nice_ticks(0.0, longest, 4)
    bottom = _TOP + _ROW * len(found)
    told = "; ".join(
        f"{system} {_seconds(sum(seconds.values()))}: "
        + ", ".join(f"{stage} {_seconds(value)}" for stage, value in seconds.items())
        for system, seconds in found.items()
    )
    labels = shortened_apart(list(found), _LABELS)
    title = f"Seconds a question on {dataset.label}"
    drawing = Drawing(name, title, f"{told}.", WIDTH, bottom + 42 + key_height(len(stages)))
    for tick in ticks:
        x = left + tick / ticks[-1] * (right - left)
        drawing.add("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid")
        drawing.text(x, bottom + 14, f"{tick:g}", text_anchor="middle", class_="soft")
    drawing.text((left + right) / 2, bottom + 31, "seconds a question", text_anchor="middle", class_="soft")
    for row, (system, seconds) in enumerate(found.items()):
        middle, x = _TOP + row * _ROW + _ROW / 2, left
        drawing.text(left - 6, middle + SIZE * 0.35, labels[system], text_anchor="end")
        for place, stage in enumerate(stages):
            wide = seconds.get(stage, 0.0) / ticks[-1] * (right - left)
            if wide > 0.2:
                kind = f"fill {series_class(place)}"
                drawing.add("rect", x=x, y=middle - _BAR / 2, width=wide, height=_BAR, class_=kind)
            x += wide
        told = _seconds(sum(seconds.values()))
        drawing.text(WIDTH - 2, middle + SIZE * 0.35, told, text_anchor="end", class_="strong")
    add_key(drawing, stages, bottom + 40, lines=False)
    rows = [
        [system, *map(_seconds, [*(seconds.get(stage, 0.0) for stage in stages), sum(seconds.values())])]
        for system, seconds in found.items()
    ]
    caption = "The mean time of a question by stage, on the machine that made the run (see the end of the page)."
    return Plot(drawing, caption, ("system", *stages, "all"), rows)


def _last(means: Mapping[str, float]) -> dict[str, float]:
    return {_OTHER: means[_OTHER]} if _OTHER in means else {}


def _seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"
    return f"{1000 * value:.0f} ms" if value >= 0.001 else "< 1 ms" if value else "0"
