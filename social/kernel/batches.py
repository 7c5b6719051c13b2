"""Cuts an iterable into lists of bounded size."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

BATCH: Final = 500  # number of rows per statement, where nothing requires another number


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Return an iterator of lists of at most `size` items, in order, each made on demand.

    Raises ValueError for a size below one.
    """
    if size < 1:
        raise ValueError(f"A batch needs room for at least one item, not {size}.")
    iterator = iter(items)
    return iter(lambda: list(islice(iterator, size)), [])
