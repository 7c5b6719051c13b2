"""Tests of ports and batches."""

from collections.abc import Iterator
from itertools import count, islice
from typing import Protocol

import pytest

from social.kernel.batches import in_batches
from social.kernel.ports import Port, Unplugged


class Greeter(Protocol):
    """The port that the lower app calls."""

    def greet(self) -> str: ...


class Polite:
    """The implementation that the upper app plugs in."""

    def greet(self) -> str:
        return "Good morning"


def test_a_port_returns_its_implementation() -> None:
    port: Port[Greeter] = Port("greeter")
    polite = Polite()
    port.plug(polite)
    port.plug(polite)
    assert port.get().greet() == "Good morning"
    assert port.find() is polite


def test_the_error_of_an_unplugged_port_names_it() -> None:
    port: Port[Greeter] = Port("greeter")
    assert port.find() is None
    with pytest.raises(Unplugged, match="greeter"):
        port.get()


def test_a_port_has_only_one_implementation() -> None:
    port: Port[Greeter] = Port("greeter")
    port.plug(Polite())
    with pytest.raises(RuntimeError, match="already answered"):
        port.plug(Polite())
    port.unplug()
    assert port.find() is None


def test_a_test_can_replace_an_implementation_temporarily() -> None:
    port: Port[Greeter] = Port("greeter")
    polite = Polite()
    port.plug(polite)
    with pytest.raises(ZeroDivisionError), port.replaced(None):
        assert port.find() is None
        raise ZeroDivisionError
    assert port.get() is polite


def test_batches_contain_all_items_in_order() -> None:
    assert list(in_batches(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(in_batches([], 3)) == []
    assert list(in_batches(range(3), 3)) == [[0, 1, 2]]


def test_batches_read_only_the_items_they_need() -> None:
    taken: list[int] = []

    def source() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    assert list(islice(in_batches(source(), 2), 2)) == [[0, 1], [2, 3]]
    assert taken == [0, 1, 2, 3]


def test_a_batch_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError):
        in_batches([1], 0)
