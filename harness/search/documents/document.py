"""What a reader returns, and the one way in which it says that it cannot."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import HarnessError


@dataclass(frozen=True)
class Document:
    """One file as Markdown. `date` is ISO (a year or a month alone stays one), `date_from` says where it was read."""

    title: str
    text: str
    url: str = ""
    date: str = ""
    date_from: str = ""  # front matter | meta tag | pdf info | docx properties | text | file name | ""
    notes: tuple[str, ...] = ()  # what is missing from `text`, one kind each, e.g. "cut after 16 MB"


class Unreadable(HarnessError):
    """A file that is left out. `what` is its kind, equal for all files with the same fault; `value` the detail."""


class LibraryMissing(Unreadable):
    """The optional library that reads this kind of file is not installed."""


def library_missing(library: str, problem: ImportError) -> LibraryMissing:
    """The error of a reader whose library cannot be imported: not installed, or without a part of its own."""
    why = f"needs {library}" if problem.name == library else f"{library} does not load ({str(problem).splitlines()[0]})"
    return LibraryMissing(why, library, 'pip install "research-harness[docs]"')
