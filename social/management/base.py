"""Base of the operators' commands: the signature and the docstring of a method declare the arguments of a command."""

import inspect
import json
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin, get_type_hints

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import transaction
from django.db.models import Choices
from django.utils.translation import gettext as _

from social.kernel.errors import KernelError

#: Help of options that mean the same in every command, unless a docstring says more.
_COMMON: Final = {
    "dry_run": "show what would be done, and change nothing",
    "json": "print JSON",
    "yes": "go on without a confirmation",
}
#: Width at which values in a table are cut.
_WIDEST: Final = 60
#: The ranges of days and of rows that options accept.
Days = Annotated[int, range(36_501)]
Limit = Annotated[int, range(1, 1_000_001)]


class OperatorCommand(BaseCommand):
    """Base of commands that call services. If a service refuses, one line shows the reason and the exit status is 1.

    The method `run` does the work; if there are other public methods, each is a subcommand with the method's name. The
    parameters of these methods are arguments: those before `*` are given by position, the others as options. `bool` is a flag,
    `list` or `Sequence` takes several values, `Literal` and Django's choices list the values, and a default makes an argument
    optional. `Annotated` adds the range of a number, a function that turns the text into the value (it may raise CommandError),
    or pairs of an argument of argparse and its value, where `flag` is the name of the option. An underscore at the end of a
    name is left out.

    The docstring of the class is the help of the command, and the docstring of a method is the help of the subcommand. Lines
    `name: text` at the end of a docstring are the help of the arguments, unless a pair `help` gives it.
    """

    #: Options of which only one may be given.
    exclusive: ClassVar[Sequence[str]] = ()
    #: Functions that declare options which `manage.py` reads before the command runs.
    also: ClassVar[Sequence[Callable[[ArgumentParser], None]]] = ()
    _methods: ClassVar[Mapping[str, Callable[..., None]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {
            name.rstrip("_"): method
            for name, method in vars(cls).items()
            if inspect.isfunction(method) and not name.startswith("_")
        }
        cls.help = _documented(cls)[0]

    def add_arguments(self, parser: ArgumentParser) -> None:
        for declare in self.also:
            declare(parser)
        if set(self._methods) == {"run"}:
            self._declare(parser, self._methods["run"], _documented(type(self))[1])
            return
        kinds = parser.add_subparsers(dest="subcommand", required=True)
        for name, method in self._methods.items():
            text, arguments = _documented(method)
            self._declare(kinds.add_parser(name, help=text, description=text), method, arguments)

    def _declare(self, parser: ArgumentParser, method: Callable[..., None], texts: Mapping[str, str]) -> None:
        group = parser.add_mutually_exclusive_group() if self.exclusive else parser
        for parameter, hint in _parameters(method):
            name = parameter.name.rstrip("_")
            flags, settings = _for_argparse(parameter, hint)
            settings["help"] = texts.get(name) or settings.get("help") or _COMMON.get(name, "")
            (group if name in self.exclusive else parser).add_argument(*flags, **settings)

    def handle(self, *args: Any, **options: Any) -> None:
        method = self._methods[options.get("subcommand", "run")]
        given = {
            parameter.name: _value(parameter.name, hint, options[parameter.name])
            for parameter, hint in _parameters(method)
        }
        method(self, **given)

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command. Raises CommandError for a service error, and for a file that cannot be used."""
        try:
            return super().execute(*args, **options)
        except KernelError as error:
            raise CommandError(error.message) from None
        except OSError as error:
            if error.filename is None:
                raise
            raise CommandError(f"{error.filename}: {error.strerror}.") from None

    def confirm(self, question: str, *, yes: bool, dry_run: bool = False) -> None:
        """Raise CommandError with the question, unless it is empty or --yes was given. A dry run only prints it."""
        if not question or yes:
            return
        text = _("%(doubt)s Use --yes to continue.") % {"doubt": question}
        if not dry_run:
            raise CommandError(text)
        self.stderr.write(text)

    def print_rows(self, rows: Sequence[Mapping[str, Any]], *, as_json: bool, empty: str) -> None:
        """Print rows, which have the same columns, as JSON or as a table; print the sentence `empty` if there are none."""
        if as_json:
            self.stdout.write(json.dumps(rows, indent=1, default=int))
        elif rows:
            table(self.stdout, rows)
        else:
            self.stdout.write(empty)


def table(output: OutputWrapper, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same columns as a table: the first line of each value, shortened except in the last column."""
    lines = [tuple(rows[0])]
    for row in rows:
        *most, last = map(_line, row.values())
        lines.append((*map(_shortened, most), last))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        output.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _line(value: Any) -> str:
    return next(iter(str("-" if value is None else value).splitlines()), "")


def _shortened(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


@contextmanager
def undone_if(dry_run: bool) -> Iterator[None]:
    """Run the block in a transaction, which is rolled back in a dry run; a dry run is therefore refused whenever the real run
    would be.

    Events are published on commit, so a change that is rolled back has no consequences.
    """
    with transaction.atomic():
        yield
        transaction.set_rollback(dry_run)


def would(dry_run: bool) -> str:
    """Return the words before a participle: "would be " in a dry run, and nothing otherwise."""
    return "would be " if dry_run else ""


def _documented(documented: Any) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring as one paragraph, and the help of each argument."""
    text, *rest = re.split(r"\n\n(?=\w+: )", inspect.getdoc(documented) or "", maxsplit=1)
    lines = re.split(r"\n(?=\w+: )", rest[0]) if rest else []
    arguments = dict(" ".join(line.split()).split(": ", 1) for line in lines)
    return " ".join(text.split()), arguments


def _parameters(method: Callable[..., None]) -> list[tuple[inspect.Parameter, Any]]:
    hints = get_type_hints(method, include_extras=True)
    return [(found, hints[name]) for name, found in inspect.signature(method).parameters.items() if name in hints]


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """Return the type of a parameter without `None` and `Annotated`, and what `Annotated` adds."""
    if get_origin(hint) is Annotated:
        kind, extras = _unwrapped(hint.__origin__)
        return kind, [*extras, *hint.__metadata__]
    others = [kind for kind in get_args(hint) if kind is not NoneType]
    return _unwrapped(others[0]) if NoneType in get_args(hint) else (hint, [])


def _for_argparse(parameter: inspect.Parameter, hint: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the names and the settings with which argparse reads a parameter."""
    kind, extras = _unwrapped(hint)
    option, required = parameter.kind is parameter.KEYWORD_ONLY, parameter.default is parameter.empty
    settings: dict[str, Any] = {} if required else {"default": parameter.default}
    if kind is bool:
        settings = {"action": "store_true"}
    elif get_origin(kind) in (list, Sequence):
        settings = {key: list(value) for key, value in settings.items()}
        settings["nargs"] = "+" if option or required else "*"
    elif get_origin(kind) is Literal:
        settings["choices"] = get_args(kind)
    elif issubclass(kind, Choices):
        settings["choices"] = kind.values
    elif kind in (int, Path):
        settings["type"] = kind
    for extra in extras:
        settings |= {extra[0]: extra[1]} if isinstance(extra, tuple) else {}
    if "action" in settings:
        settings.pop("nargs", None)
    if not option:
        return [parameter.name], ({} if required else {"nargs": "?"}) | settings
    flag = settings.pop("flag", "--" + parameter.name.rstrip("_").replace("_", "-"))
    return [flag], settings | {"dest": parameter.name} | ({"required": True} if required and kind is not bool else {})


def _value(name: str, hint: Any, given: Any) -> Any:
    """Return a parameter's value, made from what argparse has read. Raises CommandError if the value is refused."""
    kind, extras = _unwrapped(hint)
    if given is None:
        return None
    if inspect.isclass(kind) and issubclass(kind, Choices):
        return kind(given)
    for extra in extras:
        if isinstance(extra, range) and given not in extra:
            values = {"option": name.replace("_", "-"), "least": extra[0], "most": extra[-1]}
            raise CommandError(_("--%(option)s must be a number from %(least)d to %(most)d.") % values)
        if callable(extra):
            given = extra(given)
    return given
