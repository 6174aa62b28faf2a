"""Why a file is left as it is; the reason follows its name on one line."""

from __future__ import annotations


class Refused(Exception):
    """This file cannot be changed without harm. `args[0]`: the reason, as the rest of a sentence."""


class NotText(Refused):
    """Its encoding is not ours to write into; the other files can still be wired."""
