"""Tests of locks: only one transaction at a time can hold the lock on a name, until the transaction ends."""

import threading
import time

import pytest
from django.db import connection, transaction

from social.kernel.locks import lock, lock_within, try_lock


def in_another_connection(work: object) -> threading.Thread:
    """Run `work` in a thread with its own database connection, and return the thread."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_lock_outside_a_transaction_is_refused(transactional_db: None) -> None:
    with pytest.raises(RuntimeError, match="status:1"):
        lock("status:1")
    with pytest.raises(RuntimeError):
        try_lock("status:1")


def test_a_lock_has_one_holder_and_does_not_block_other_names(transactional_db: None) -> None:
    order: list[str] = []

    def second() -> None:
        with transaction.atomic():
            lock("status:2")
            order.append("other name")
            lock("status:1")
            order.append("second")

    with transaction.atomic():
        lock("status:1")
        assert not_free_elsewhere("status:1")
        thread = in_another_connection(second)
        while "other name" not in order:
            time.sleep(0.01)
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["other name", "first", "second"]


def not_free_elsewhere(name: str) -> bool:
    """Return whether another connection cannot get the lock."""
    got: list[bool] = []

    def ask() -> None:
        with transaction.atomic():
            got.append(try_lock(name))

    in_another_connection(ask).join()
    return not got[0]


def test_waiting_for_a_lock_times_out_and_the_transaction_continues(transactional_db: None) -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            lock("status:1")
            held.set()
            done.wait(30)

    other = in_another_connection(hold)
    assert held.wait(30)
    with transaction.atomic():
        assert not lock_within("status:1", 0.05)
        assert lock_within("status:2", 0.05)
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("0",)
        assert not_free_elsewhere("status:2")
        done.set()
        other.join()
        assert lock_within("status:1", 30)
    with pytest.raises(RuntimeError):
        lock_within("status:1", 1)


def test_a_rolled_back_transaction_releases_its_locks(transactional_db: None) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        lock("status:1")
        raise ZeroDivisionError
    assert not not_free_elsewhere("status:1")


def test_locking_several_names_in_any_order_never_deadlocks(transactional_db: None) -> None:
    errors: list[BaseException] = []

    def take(*names: str) -> None:
        try:
            for _ in range(50):
                with transaction.atomic():
                    lock(*names)
        except BaseException as error:
            errors.append(error)

    threads = [in_another_connection(lambda: take("a", "b")), in_another_connection(lambda: take("b", "a"))]
    for thread in threads:
        thread.join()
    assert errors == []
