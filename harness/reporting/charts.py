"""Two small line charts as SVG, written by hand, each with its figures as a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from harness.reporting.telling import Report

WIDTH, HEIGHT = 640, 190
LEFT, RIGHT, TOP, BOTTOM = 8, 200, 12, 24  # the names of the lines stand on the right
SIDE_BY_SIDE = 14  # least distance of the two names
MOST = 400  # points of a line: what is more is not seen, and a case may have 5,000 rounds
Series = Sequence[int]


def charts(report: Report, words: Mapping[str, str]) -> str:
    """The charts that there are figures for, "" for none. A line needs two points."""
    tokens, rounds = report.tokens, [one for one in report.moments if one.kind == "round"]
    found = ""
    if len(tokens) > 1:
        found += _chart("tokens", words, [one.round for one in tokens], *zip(*(one[1:] for one in tokens), strict=True))
    if len(rounds) > 1:
        counts = ((len(one.facts), one.gap_count) for one in rounds)
        found += _chart("facts", words, [one.round for one in rounds], *zip(*counts, strict=True))
    return found


def number(value: int, language: str) -> str:
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}") if language == "ru" else f"{value:,}"


def _chart(name: str, words: Mapping[str, str], rounds: Series, one: Series, two: Series) -> str:
    title, desc = words[f"{name}_title"], words[f"{name}_desc"]
    names = words[f"{name}_one"], words[f"{name}_two"]
    top = max(*one, *two, 1)
    ends = _apart(_y(one[-1], top), _y(two[-1], top))
    drawn = "".join(
        _line(series, top, style) + _label(label, series[-1], y, style, words["language"])
        for series, label, y, style in zip((one, two), names, ends, ("one", "two"), strict=True)
    )
    base = HEIGHT - BOTTOM
    return (
        f'<figure><h3>{escape(title)}</h3><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(desc)}</desc>'
        f'<path class="axis" d="M{LEFT} {base}H{WIDTH - RIGHT}"/>{drawn}'
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{rounds[0]}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(words["round"])} {rounds[-1]}</text>'
        f"</svg><figcaption>{escape(desc)}</figcaption>{_figures(title, words, names, rounds, one, two)}</figure>\n"
    )


def _y(value: int, top: int) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top), 1)


def _line(series: Series, top: int, style: str) -> str:
    step = (WIDTH - LEFT - RIGHT) / (len(series) - 1)
    every = len(series) // MOST + 1
    shown = [at for at in range(len(series)) if at % every == 0 or at == len(series) - 1]
    points = [f"{LEFT + at * step:.1f} {_y(series[at], top)}" for at in shown]
    x, y = points[-1].split()
    return f'<path class="{style}" d="M{"L".join(points)}"/><circle class="{style}" cx="{x}" cy="{y}" r="2.5"/>'


def _label(name: str, value: int, y: float, style: str, language: str) -> str:
    first = ' class="first"' if style == "one" else ""
    return f'<text{first} x="{WIDTH - RIGHT + 8}" y="{y + 4}">{escape(name)} {number(value, language)}</text>'


def _apart(one: float, two: float) -> tuple[float, float]:
    """Heights of two names that would stand on each other, moved away from each other."""
    gap = SIDE_BY_SIDE - abs(one - two)
    if gap <= 0:
        return one, two
    up, down = -gap / 2, gap / 2
    return (one + up, two + down) if one <= two else (one + down, two + up)


def _figures(title: str, words: Mapping[str, str], names: Sequence[str], *series: Series) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in (words["round"], *names))
    rows = "".join("<tr>" + "".join(f"<td>{one}</td>" for one in row) + "</tr>" for row in zip(*series, strict=True))
    return (
        f'<div class="hidden"><table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
