"""A country's page of one edition: its name, its values, and the Markdown document made of it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.factbook_get import Edition, Page

# A value longer than this is prose and gets a heading of its own instead of standing on a `- name: value` line.
LONG = 400
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
PARAGRAPH = re.compile(r"</?p\b[^>]*>|(?:<br\s*/?>\s*){2,}", re.IGNORECASE)
TAG = re.compile(r"</?[a-z][^>]*>", re.IGNORECASE)
# Names by which nobody would ask; the long one is plain.
ODD_NAMES = frozenset({"none", "The Dominican"})


class Item(NamedTuple):
    """One value of a page: "Economy", "Budget - revenues", the value's paragraphs."""

    category: str
    name: str
    paragraphs: tuple[str, ...]


def paragraphs(raw: str) -> tuple[str, ...]:
    """The text of a value without mark-up. The older edition joins values by `++`, which becomes a semicolon."""
    parts = (BREAK.sub("; ", part) for part in PARAGRAPH.split(raw))
    texts = (html.unescape(TAG.sub("", part)).replace("\xa0", " ").replace("++", ";") for part in parts)
    folded = (re.sub(r"\s*;(\s*;)*\s*", "; ", " ".join(text.split())).strip("; ") for text in texts)
    return tuple(text for text in folded if text)


def look_up(page: Page, path: tuple[str, ...]) -> str | None:
    """The value at `path` on one line, or of the newest year where there is one item a year; None without one."""
    node: object = page
    for key in path:
        if not isinstance(node, dict):
            return None
        node = {name.strip(): below for name, below in node.items()}.get(key)
    if not isinstance(node, dict):
        return None
    if "text" in node:
        return _line(node["text"])
    by_year = {int(key[-4:]): below for key, below in node.items() if re.search(r" (19|20)\d\d$", key)}
    newest = by_year.get(max(by_year, default=0))
    return _line(newest.get("text")) if isinstance(newest, dict) else None


def country_name(page: Page) -> str | None:
    """The short name ("Chad"), else the long one; None for a page that names no single country."""
    for form in ("conventional short form", "conventional long form"):
        name = look_up(page, ("Government", "Country name", form))
        if name and name not in ODD_NAMES and not re.search(r"[,;:]", name):
            return name
    return None


def items(page: Page) -> Iterator[Item]:
    """Every value of a page in its order."""
    for category, below in page.items():
        yield from _items(category.strip(), (), below)


def render_page(name: str, edition: Edition, code: str, page: Page) -> str:
    """The Markdown document: dated front matter, a heading a category, `- name: value` lines, long texts whole."""
    title = f"{name} - The World Factbook, {edition.name} edition"
    url = edition.url.format(code=code, slug=slug(name))
    lines = ["---", f'title: "{title}"', f"date: {edition.date}", f"url: {url}", "---", f"# {name}"]
    category = ""
    for item in items(page):
        if item.category != category:
            category = item.category
            lines += ["", f"## {category}", ""]
        if len(item.paragraphs) == 1 and len(item.paragraphs[0]) <= LONG:
            lines.append(f"- {item.name}: {item.paragraphs[0]}")
            continue
        lines += ["", f"### {item.name}", ""]
        for paragraph in item.paragraphs:
            lines += [paragraph, ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def write_corpus(editions: tuple[Edition, Edition], folder: Path) -> int:
    """Writes one document per country and edition into `folder`/EDITION/; returns how many there are."""
    count = 0
    for edition in editions:
        (folder / edition.name).mkdir(parents=True, exist_ok=True)
        for code, page in sorted(edition.pages.items()):
            name = country_name(page) or code
            document = folder / edition.name / f"{slug(name)}-{code}.md"
            document.write_text(render_page(name, edition, code, page), encoding="utf-8", newline="\n")
            count += 1
    return count


def slug(name: str) -> str:
    """The name in lower case without accents and with hyphens: "cote-d-ivoire"."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _items(category: str, above: tuple[str, ...], node: object) -> Iterator[Item]:
    if isinstance(node, str):
        name = _name(above)
        texts = paragraphs(_without_label(node, name))
        if texts:
            yield Item(category, name, texts)
    elif isinstance(node, dict):
        for key, below in node.items():
            key = key.strip()
            yield from _items(category, above if key == "text" else (*above, key.replace(": ", " - ")), below)


def _without_label(raw: str, name: str) -> str:
    """ "arable land: 11%" under the name "… - arable land" without its first words."""
    label = re.escape(name.rpartition(" - ")[2])
    return re.sub(rf"^(<[a-z]+>)?{label}:(\s|&nbsp;)*(</[a-z]+>)?", "", raw, flags=re.IGNORECASE)


def _name(path: tuple[str, ...]) -> str:
    """ "Exports" over "Exports 2023" is called by the lower name alone."""
    kept = [key for key, below in zip(path, (*path[1:], ""), strict=True) if not below.startswith(key)]
    return " - ".join(kept)


def _line(raw: object) -> str | None:
    return "; ".join(paragraphs(raw)) or None if isinstance(raw, str) else None
