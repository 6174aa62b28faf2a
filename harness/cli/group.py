"""The command group: each command's module is imported only when it runs, so that `status` stays quick."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from harness import __version__
from harness.given import near_match

# Command → module in this package, in the order of the help page.
COMMANDS = {
    "ask": "start",
    "run": "start",
    "step": "take_part",
    "next": "take_part",
    "take": "take_part",
    "search": "take_part",
    "note": "take_part",
    "reread": "take_part",
    "steer": "take_part",
    "stop": "take_part",
    "watch": "watching",
    "reopen": "take_part",
    "init": "scaffold",
    "status": "look",
    "log": "history",
    "diff": "history",
    "blame": "history",
    "verify": "history",
    "report": "reporting",
    "git-textconv": "history",
    "fork": "branching",
    "merge": "branching",
    "git-merge": "history",
    "check": "checks",
    "fold": "reading",
    "find": "tools",
    "tokens": "counting",
    "agents": "tools",
    "trust": "tools",
    "config": "tools",
    "doctor": "doctoring",
}


class LazyGroup(click.Group):
    """Looks a command up by name in COMMANDS; its function is called `NAME_command`."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"harness.cli.{COMMANDS[name]}")
        command = getattr(module, f"{name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words and words[0] not in COMMANDS and not words[0].startswith("-"):
            raise click.UsageError(f"No such command '{words[0]}'{near_match(words[0], COMMANDS)}.", context)
        return super().resolve_command(context, words)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
@click.option(
    "-C", "case", type=click.Path(path_type=Path), metavar="DIR", help="The case folder (default: research/)."
)
@click.pass_context
def cli(context: click.Context, case: Path | None) -> None:
    """Research over plain files: Planner, search and Synthesizer take turns."""
    context.obj = case
