"""Why an agent program failed, told from its words and its server's status: what happened and what to do next."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.errors import AgentFailed, AgentUnreachable
from harness.patterns import lazy


class Cause(NamedTuple):
    """`asked`: the model may have read the packet (AgentFailed), else it never did (AgentUnreachable)."""

    what: str
    hint: str  # `{name}` is the agent's, `{program}` what its command begins with
    words: re.Pattern[str]
    statuses: tuple[int, ...] = ()
    asked: bool = True


def _words(pattern: str) -> re.Pattern[str]:
    return lazy(pattern, re.IGNORECASE)


# The first row that fits counts: the words of a program say more than the status of its server.
CAUSES = (
    Cause(
        "the packet is too long for its model",
        "Set agents.{name}.window to what the model can read (harness cuts what it shows), or name another agent.",
        _words(
            r"prompt is too long|context.{0,20}(?:length|window|limit)|maximum (?:context|number of tokens)"
            r"|(?:input|request|too many) tokens? (?:is|are|exceed)|input is too long|reduce the length"
        ),
        (413,),
    ),
    Cause(
        "its limit of turns was reached",
        "It went on working instead of replying: raise the limit in agents.{name}.command, or name another agent.",
        _words(r"max(?:imum)?[ _-]?(?:number of |session )?turns|limit of turns|turn limit"),
    ),
    Cause(
        "its limit of money was reached",
        "Raise the limit in agents.{name}.command, or name another agent.",
        _words(r"maximum budget|max[ _-]?budget|budget (?:exceeded|reached)"),
    ),
    Cause(
        "the account has no credit",
        "Top up the account, or name another agent in the role's list.",
        _words(r"credit balance|insufficient (?:credit|funds|balance)|payment required|billing"),
        (402,),
        asked=False,
    ),
    Cause(
        "rate limit or quota reached",
        "Wait and run it again, or name another agent in the role's list.",
        _words(r"rate.?limit|too many requests|quota|usage limit|RESOURCE_EXHAUSTED"),
        (429,),
        asked=False,
    ),
    Cause(
        "no login or key",
        "Start {program} by hand and log in, or put its key into the environment; then: harness agents --test {name}",
        _words(
            r"not logged in|please run /login|log ?in\b|sign in|api.?key|unauthori[sz]ed|authenticat|auth method"
            r"|missing environment variable|credentials|no login"
        ),
        (401, 403),
        asked=False,
    ),
    Cause(
        "a permission was refused",
        "It wanted to use a tool that its settings do not allow; a role needs none. See agents.{name}.command.",
        _words(r"permission (?:denied|refused|requested)|rejected permission"),
    ),
    Cause(
        "no such model",
        "Name a model that the account may use, in the program's own settings or in agents.{name}.command.",
        _words(r"model.{0,40}not (?:found|exist|supported)|unknown model|no such model|no model"),
        (404,),
        asked=False,
    ),
    Cause(
        "no connection",
        "Is the network up, and the program's server address right?",
        _words(
            r"unable to connect|connection (?:failed|refused|error)|connectionrefused|econnrefused|enotfound"
            r"|waiting for network|fetch failed|getaddrinfo|does not resolve|dns error|cannot connect"
        ),
        asked=False,
    ),
    Cause(
        "the server failed",
        "Run it again later, or name another agent in the role's list.",
        _words(r"overloaded|server.side|internal server error|service unavailable|status 5\d\d"),
        tuple(range(500, 600)),
    ),
)


def cause_of(told: str, status: int | None = None) -> Cause | None:
    """The first row whose words or status fit; None: nothing that is known."""
    by_words = (cause for cause in CAUSES if cause.words.search(told))
    by_status = (cause for cause in CAUSES if status in cause.statuses)
    return next(by_words, None) or next(by_status, None)


def error_of(cause: Cause, name: str, program: str, told: str) -> AgentFailed | AgentUnreachable:
    kind = AgentFailed if cause.asked else AgentUnreachable
    return kind(f"{name}: {cause.what}", told, cause.hint.format(name=name, program=program))
