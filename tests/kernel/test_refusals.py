"""Tests of the counts of refused activities by reason and sender, which operators see."""

import logging
from datetime import timedelta

import pytest
import time_machine

from social.kernel import clock, reasons, refusals
from social.kernel.reasons import count_left_out, leave_out
from social.kernel.refusals import Refusal, count_refusals, forget_refusals, load_refusals, note_refusal
from social.runtime.metrics import metrics

pytestmark = pytest.mark.django_db


class _Reason(reasons.Reason):
    ODD = "it is odd", "a rule"
    LONG = "it is long", "another rule", "long-winded servers"


def test_refusals_add_up_by_sender_reason_and_day() -> None:
    count_refusals("one.example", {_Reason.ODD: 2, _Reason.LONG: 1})
    count_refusals("one.example", {_Reason.ODD: 1})
    count_refusals("two.example", {_Reason.ODD: 5})
    assert load_refusals(["one.example"]) == [
        ("one.example", _Reason.ODD.key, 3),
        ("one.example", _Reason.LONG.key, 1),
    ]
    assert dict(refusals.load_today())[_Reason.ODD.key] == 8


def test_left_out_parts_are_counted_inside_the_block() -> None:
    leave_out(_Reason.ODD)
    with count_left_out() as counts:
        leave_out(_Reason.LONG, 3)
        leave_out(_Reason.ODD, 0)
    assert counts == {_Reason.LONG: 3}


def test_one_line_is_logged_for_every_hundred_refusals(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "social.refusals")
    for _number in range(205):
        count_refusals("one.example", {_Reason.ODD: 1})
    assert [record.getMessage() for record in caplog.records] == [
        f"one.example: {number} today not taken, it is odd" for number in (1, 100, 200)
    ]


def test_many_refusals_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    # Write the counts that other tests have left in this process, so that they do not appear in this test.
    refusals.write_noted()
    Refusal.objects.all().delete()
    monkeypatch.setattr(refusals, "NOTED_LIMIT", 3)
    for number in range(10):
        note_refusal(f"{number}.example", _Reason.ODD)
    assert not Refusal.objects.exists()
    # The end of a process closes its connections; here this would close the test's own connection.
    monkeypatch.setattr(refusals.connections, "close_all", lambda: None)
    refusals.write_last_counts()
    assert dict(Refusal.objects.values_list("sender", "number")) == {
        "0.example": 1,
        "1.example": 1,
        "2.example": 1,
        "": 7,
    }


def test_counts_are_kept_for_thirty_days() -> None:
    count_refusals("one.example", {_Reason.ODD: 1})
    with time_machine.travel(clock.now() + timedelta(days=refusals.KEPT_DAYS + 1), tick=False):
        count_refusals("two.example", {_Reason.ODD: 1})
        assert forget_refusals() == 1
    assert list(Refusal.objects.values_list("sender", flat=True)) == ["two.example"]


def test_the_metrics_count_todays_refusals_by_reason(rf: object) -> None:
    count_refusals("one.example", {_Reason.ODD: 4})
    request = rf.get("/metrics", REMOTE_ADDR="127.0.0.1")  # type: ignore[attr-defined]  # pytest-django's factory
    assert f'social_refused_today{{reason="{_Reason.ODD.key}"}} 4.0' in metrics(request).content.decode()
