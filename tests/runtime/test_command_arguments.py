"""Tests that the signature and docstring of a command's method define its arguments."""

import io
from collections.abc import Sequence
from typing import Annotated, Literal

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from social.kernel.errors import NotFound
from social.management.base import Days, OperatorCommand


def _doubled(text: str) -> str:
    if text == "unknown":
        raise CommandError("There is no unknown.")
    return text * 2


class _Feeding(OperatorCommand):
    """Feed animals. Nobody
    goes hungry.

    animals: who is fed
    food: what they get,
        in the morning
    """

    exclusive = ("quickly", "slowly")

    def run(
        self, animals: Annotated[Sequence[str], ("metavar", "ANIMAL")] = (), *, food: Literal["hay", "oats"] = "hay",
        days: Days = 2, keeper: Annotated[str | None, _doubled, ("help", "who feeds them")] = None, all_: bool,
        quickly: bool, slowly: bool,
        bowl: Annotated[Sequence[str], ("flag", "--in"), ("action", "append")] = (), dry_run: bool,
    ) -> None:  # fmt: skip
        self.stdout.write(f"{[*animals]} {food} {days} {keeper} {all_} {quickly} {[*bowl]} {dry_run}")


class _Zoo(OperatorCommand):
    """Run a zoo."""

    def open(self, *, house: int) -> None:
        """Open a house.

        house: its number
        """
        self.stdout.write(f"open {house}")

    def import_(self, animal: str) -> None:
        """Take in an animal."""
        raise NotFound


def said(command: type[OperatorCommand], *arguments: str) -> str:
    out = io.StringIO()
    call_command(command(), *arguments, stdout=out)
    return out.getvalue().strip()


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ((), "[] hay 2 None False False [] False"),
        (("cow", "hen", "--food", "oats", "--all"), "['cow', 'hen'] oats 2 None True False [] False"),
        (("--days", "0", "--keeper", "ada", "--quickly"), "[] hay 0 adaada False True [] False"),
        (("--in", "a", "--in", "b", "--dry-run"), "[] hay 2 None False False ['a', 'b'] True"),
    ],
)
def test_arguments_reach_the_method_as_its_types_say(arguments: tuple[str, ...], received: str) -> None:
    assert said(_Feeding, *arguments) == received


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--days", "-1"), "--days must be a number from 0 to 36500"),
        (("--days", "two"), "invalid int value"),
        (("--food", "meat"), "invalid choice"),
        (("--keeper", "unknown"), "There is no unknown"),
        (("--quickly", "--slowly"), "not allowed with"),
    ],
)
def test_an_argument_that_does_not_fit_its_type_is_refused(arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        said(_Feeding, *arguments)


def test_the_docstring_is_the_help() -> None:
    text = _Feeding().create_parser("manage.py", "feed").format_help()
    assert "Feed animals. Nobody goes hungry." in text
    assert "who is fed" in text
    assert "who feeds them" in text
    assert "what they get, in the morning" in " ".join(text.split())
    assert "show what would be done, and change nothing" in " ".join(text.split())


def test_public_methods_are_subcommands_and_refusals_of_services_are_errors() -> None:
    assert said(_Zoo, "open", "--house", "3") == "open 3"
    with pytest.raises(CommandError, match="required: --house"):
        said(_Zoo, "open")
    with pytest.raises(CommandError, match="Record not found"):
        said(_Zoo, "import", "lion")
