"""The command `profile`: its commands, and the one place that prints errors and settles the exit code.

Exit codes: 0 done, 1 the gate says slower, 2 wrong usage, 3 the experiment could not run, 4 inconclusive,
130 interrupted. A command returns its code; an error carries its own.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer

from profiler import __version__
from profiler.cli.catalogue import LazyGroup
from profiler.errors import ProfileError, UsageError
from profiler.report.console import error_console
from profiler.settings.sources import current_directory, resolve

_WRONG_USAGE = 2
_COULD_NOT_RUN = 3
_INTERRUPTED = 130


class ProfileGroup(LazyGroup):
    """The group of all commands; every way of calling it ends in one clear sentence and an exit code."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and leave the process."""
        arguments = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        sys.exit(_exit_code(lambda: super(ProfileGroup, self).main(arguments, *rest, **extra), arguments))

    def get_help_option(self, ctx: Any) -> Any:
        """Say that help is not asked for, instead of nothing: typer loads pydantic (0.2 s) to check a nothing."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interruption is said, and nothing leaves with a code that typer chooses."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            error_console().print("Interrupted.")
            raise typer.Exit(_INTERRUPTED) from None
        except BrokenPipeError as error:
            # It is no stream of this process: these outlast their readers.
            raise ProfileError(
                f"A program that profile talks to is gone: {error.strerror}.", hint="--debug shows which."
            ) from error
        except EOFError as error:
            raise _UnforeseenError from error
        except Exception:
            raise
        except BaseException as error:
            raise _UnforeseenError from error


class _UnforeseenError(Exception):
    """Its cause is an error that typer would end the process for, with exit code 1: that means "slower" only."""


def _exit_code(command: Callable[[], Any], arguments: Sequence[str]) -> int:
    try:
        code = command()
    except ProfileError as error:
        return _told(error, str(error), error.exit_code, arguments)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command_path = context.command_path if context else "profile"
        said = f"{error.format_message().rstrip('.')}. '{command_path} --help' tells more."
        return _told(error, said, _WRONG_USAGE, ())  # what is wrong is in the call: no traceback tells more
    except _UnforeseenError as unforeseen:
        cause = unforeseen.__cause__ or unforeseen
        return _told(cause, _unexpected(cause), _COULD_NOT_RUN, arguments)
    except Exception as error:  # noqa: BLE001 - the last resort: a defect must not show as a traceback either
        return _told(error, _unexpected(error), _COULD_NOT_RUN, arguments)
    return code if isinstance(code, int) else 0


def _unexpected(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {error.strerror}{f' ({error.filename})' if error.filename else ''}. Free some space."
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - of another program, which can't be asked any more
        said = "it can't say why"
    return f"Unexpected {type(error).__name__}: {said}. This is a defect in profile; --debug shows where."


def _told(error: BaseException, sentence: str, code: int, arguments: Sequence[str]) -> int:
    if _wants_traceback(arguments):
        traceback.print_exception(error)
    console = error_console()
    console.print("Error: ", style="bold red", end="")
    console.print(" ".join(sentence.split()))
    return code


def _wants_traceback(arguments: Sequence[str]) -> bool:
    try:
        return "--debug" in arguments or resolve({}, os.environ, current_directory()).debug
    except UsageError:
        return False


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the shape that typer calls
    if wanted:
        typer.echo(f"profile {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="profile",
    cls=ProfileGroup,
    add_completion=False,
    # Rich help costs a third of the time that the help may take.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def profile(
    ctx: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - answered by its callback
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Find the tasks per operator that give a Spark streaming job the most throughput."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(_WRONG_USAGE)
