"""A program that takes a role: a coding agent without tools, a script, anything that reads a prompt and replies.

It runs at a desk, a temporary folder: what it prints (or the file named by `reply:`, or with `files: true` the
permitted files it changed) is its reply, everything else it does there is discarded and named in the notes.

To try one by hand with your own program and key:
    printf 'Reply with the one word: ready' | (cd "$(mktemp -d)" && env -u CLAUDECODE my-agent --quiet; echo "exit $?")
It must print the word and exit 0; then put the command under `agents:` in the user config.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from harness.agents.causes import cause_of, error_of
from harness.agents.forms import Printed, read_printed
from harness.agents.sandbox import no_sandbox, sandboxed
from harness.desk import PROMPT_FILE, Collected, Desk
from harness.environment import child_environment, mask, secrets_of
from harness.errors import AgentFailed, AgentUnreachable, WrongCall
from harness.model import Packet, Reply
from harness.options import AgentSpec
from harness.process import OUTPUT_LIMIT, Finished, last_lines, run

STDOUT = "stdout"
PROMPT_PLACEHOLDER = "{prompt}"
FILE_PLACEHOLDER = "{prompt_file}"
PROMPT_FORMS = ("stdin", "argument", "file")
# Linux: MAX_ARG_STRLEN, 32 pages, for one argument. Windows: 32,767 for the whole line. macOS: 1 MB with the
# environment. Bytes.
ARGUMENT_LIMITS = {"linux": 131_071, "win32": 30_000}
ARGUMENT_LIMIT = 250_000  # other systems
OPTION_STARTS = ("-", "@")  # an argument that begins so is an option, or the name of a file to read


# Of one well-known program, since it takes text of the packet for orders of the user: `@path` anywhere in a prompt
# attaches that file, and a memory of its own carries one pass over into the next. `env:` can set them otherwise.
CLEAN_CONTEXT = {"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}


class CommandAgent:
    """ports.Agent: one program, started anew for every packet. Raises WrongCall for a spec that cannot work."""

    def __init__(self, spec: AgentSpec, hidden: tuple[Path, ...] = ()) -> None:
        """`hidden`: folders that a sandbox keeps from the program, e.g. the case's."""
        where = f"agents.{spec.name}"
        if not spec.command:
            raise WrongCall("an agent without a command", spec.name, f"Set {where}.command, e.g. [my-agent, --quiet].")
        if spec.prompt not in PROMPT_FORMS:
            raise WrongCall("unknown prompt form", spec.prompt, f"Set {where}.prompt to {', '.join(PROMPT_FORMS)}.")
        if PurePath(spec.reply).name != spec.reply or spec.reply in ("", "..", PROMPT_FILE):
            hint = f"Set {where}.reply to stdout or to a plain file name, e.g. last.txt."
            raise WrongCall("a reply file outside the desk", spec.reply, hint)
        self._spec = spec
        self._hidden = hidden

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def window(self) -> int | None:
        """Tokens left for a prompt: the reply needs its part of the window too."""
        return self._spec.window - self._spec.output

    def obstacle(self) -> AgentUnreachable | None:
        """Why the program cannot be started here, found out without starting it; None = nothing in its way."""
        path = self._environment().get("PATH")
        if not shutil.which(self._spec.command[0], path=path):
            return self._missing()
        if self._spec.sandbox == "bwrap" and not shutil.which("bwrap", path=path):
            return no_sandbox(self.name)
        return None

    def take(self, packet: Packet) -> Reply:
        """Start the program on one packet and wait for its reply.

        Raises AgentUnreachable if it cannot be started, has no login, or the prompt is too long for an argument;
        AgentFailed on a time-out, an error that it reports, an empty reply, too much output, or unchanged files.
        """
        spec = self._spec
        outputs = packet.writes if spec.files else ()
        ended = self._at_desk(packet.prompt, packet.files if spec.files else {}, outputs)
        printed, collected = ended.printed, ended.collected
        files = {name: text for name, text in collected.files.items() if name in outputs}
        if outputs and not files:
            raise self._unchanged(outputs, ended)
        text = collected.files.get(spec.reply, "") if spec.reply != STDOUT else printed.text
        if not files and not text.strip():
            raise self._empty(ended)
        return Reply(text.strip(), files, printed.tokens_in, printed.tokens_out, collected.notes, printed.cost)

    def ask(self, prompt: str) -> Printed:
        """One run on one prompt, at an empty desk. Raises as `take` does, but for an empty reply."""
        return self._at_desk(prompt, {}, ()).printed

    def _at_desk(self, prompt: str, files: Mapping[str, str], outputs: tuple[str, ...]) -> _Ended:
        spec = self._spec
        named = () if spec.reply == STDOUT else (spec.reply,)
        at_desk = prompt if spec.files or spec.prompt == "file" else None
        with Desk(files, prompt=at_desk, writes=(*outputs, *named)) as desk:
            finished = self._run(prompt, desk)
            printed = read_printed(spec.form, finished.stdout, finished.stderr_tail, finished.code)
            ended = _Ended(finished, printed, Collected({}, ()))
            self._check(ended)
            return ended._replace(collected=desk.collect())

    def _run(self, prompt: str, desk: Desk) -> Finished:
        spec = self._spec
        command, env = self._arguments(prompt, desk), self._environment()
        stdin = prompt if spec.prompt == "stdin" else None
        try:
            if spec.sandbox != "bwrap":
                return run(command, stdin=stdin, cwd=desk.path, env=env, timeout=spec.timeout)
            shown = (*spec.command, *spec.env.values())
            with sandboxed(self.name, command, env, desk=desk.path, hidden=self._hidden, shown=shown) as wrapped:
                return run(wrapped, stdin=stdin, cwd=desk.path, env=env, timeout=spec.timeout)
        except FileNotFoundError:
            raise self._missing() from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            hint = f"Check agents.{spec.name}.command: is it a program that may be executed?"
            raise AgentUnreachable(f"cannot start {spec.command[0]}", reason or "", hint) from None

    def _environment(self) -> dict[str, str]:
        return child_environment(os.environ, {**CLEAN_CONTEXT, **self._spec.env})

    def _missing(self) -> AgentUnreachable:
        hint = f"Install it, or set agents.{self.name}.command to the program's full path."
        return AgentUnreachable("no such program", self._spec.command[0], hint)

    def _arguments(self, prompt: str, desk: Desk) -> list[str]:
        form = self._spec.prompt
        command = list(self._spec.command)
        if form == "stdin":
            return command
        if form == "file":
            return _filled(command, FILE_PLACEHOLDER, str(desk.path / PROMPT_FILE))
        if prompt.startswith(OPTION_STARTS):
            prompt = "\n" + prompt
        filled = _filled(command, PROMPT_PLACEHOLDER, prompt)
        longest = max(len(argument.encode("utf-8", errors="replace")) for argument in filled)
        if longest > ARGUMENT_LIMITS.get(sys.platform, ARGUMENT_LIMIT):
            hint = f"Set agents.{self.name}.prompt to stdin or file."
            raise AgentUnreachable(f"{self.name}: the prompt is too long for an argument", f"{longest} bytes", hint)
        return filled

    def _check(self, ended: _Ended) -> None:
        """Raises for a run that came to no good end; what a known cause is comes before how it showed."""
        spec, (finished, printed, _) = self._spec, ended
        if finished.stopped == "interrupt":
            raise self._failure("ended by Ctrl-C", ended, "Run it again: the state is at the last commit.")
        if finished.stopped == "output" or (finished.dropped and spec.reply == STDOUT and not spec.files):
            hint = f"Make it print the reply only (more than {OUTPUT_LIMIT} bytes came), e.g. with a quiet option."
            raise self._failure("printed far more than a reply", ended, hint)
        if not (finished.stopped or printed.error or finished.code):
            return
        told = printed.error or finished.stderr_tail or last_lines(finished.stdout)
        if cause := cause_of(told, printed.status):
            error = error_of(cause, self.name, spec.command[0], self._masked(told))
            error.spent = self._spent(printed)
            raise error
        if finished.stopped == "timeout":
            hint = (
                "It may wait for a permission or a login: run it by hand once, "
                f"or raise agents.{spec.name}.timeout ({spec.timeout:g} s)."
            )
            raise self._failure(f"no reply in {spec.timeout:g} s", ended, hint)
        how = f"exit code {finished.code}" if finished.code >= 0 else f"ended by signal {-finished.code}"
        what = f"it reports an error ({how})" if printed.error else how
        raise self._failure(what, ended, f"Run it by hand to see more: {shlex.join(spec.command)}")

    def _empty(self, ended: _Ended) -> AgentFailed:
        where = "" if self._spec.reply == STDOUT else f" in {self._spec.reply}"
        happened = "; ".join(ended.collected.notes)
        hint = f"Run it by hand: {shlex.join(self._spec.command)}"
        return self._failure(
            f"exit code 0, but no reply{where}{' (' + happened + ')' if happened else ''}", ended, hint
        )

    def _unchanged(self, outputs: tuple[str, ...], ended: _Ended) -> AgentFailed:
        happened = "; ".join(ended.collected.notes) or "nothing else changed"
        hint = "It must write into the folder it is started in: check its permission settings."
        return self._failure(f"did not write {' or '.join(outputs)} ({happened})", ended, hint)

    def _failure(self, what: str, ended: _Ended, hint: str) -> AgentFailed:
        """With the last lines of the error stream, or of what it printed: agents report errors on both."""
        finished, printed, _ = ended
        told = printed.error or finished.stderr_tail or last_lines(printed.text or finished.stdout)
        return AgentFailed(f"{self.name}: {what}", self._masked(told), self._masked(hint), spent=self._spent(printed))

    def _masked(self, text: str) -> str:
        return mask(text, secrets_of({**os.environ, **self._spec.env}))

    def _spent(self, printed: Printed) -> dict[str, tuple[int, int]]:
        if printed.tokens_in is None and printed.tokens_out is None:
            return {}
        return {self.name: (printed.tokens_in or 0, printed.tokens_out or 0)}


class _Ended(NamedTuple):
    """A run that is over: how, what the program printed, what it left at its desk."""

    finished: Finished
    printed: Printed
    collected: Collected


def _filled(command: list[str], placeholder: str, value: str) -> list[str]:
    """`command` with the placeholder replaced wherever it stands, or the value as the last argument."""
    if not any(placeholder in argument for argument in command):
        return [*command, value]
    return [argument.replace(placeholder, value) for argument in command]
