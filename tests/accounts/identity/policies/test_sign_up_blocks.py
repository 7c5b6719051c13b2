"""Tests of which values match a sign-up block, and of the computation of a user's age."""

from datetime import date

import pytest

from accounts.identity.policies.sign_up import age_errors, email_digest, normalised_username

TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    "spelling", ["Ada.Lovelace@Example.com", "adalovelace+spam@example.com", " a.d.a.lovelace@example.com"]
)
def test_spellings_of_one_address_have_one_digest(spelling: str) -> None:
    assert email_digest(spelling) == email_digest("adalovelace@example.com")


@pytest.mark.parametrize("other", ["adalovelace@example.org", "ada@example.com", "adalovelace@ex.ample.com"])
def test_other_addresses_have_other_digests(other: str) -> None:
    assert email_digest(other) != email_digest("adalovelace@example.com")


def test_digits_that_look_like_letters_are_those_letters() -> None:
    assert normalised_username("5P4M_K1NG") == normalised_username("spam_king")


@pytest.mark.parametrize(
    ("born", "code"),
    [
        ("2010-03-01", None),
        ("01.03.2010", None),
        ("1990-12-31", None),
        ("2010-03-02", "ERR_BELOW_LIMIT"),
        ("02.03.2010", "ERR_BELOW_LIMIT"),
        ("2027-01-01", "ERR_INVALID"),
        ("2010-02-30", "ERR_INVALID"),
        ("03/01/2010", "ERR_INVALID"),
        ("yesterday", "ERR_INVALID"),
        (" ", "ERR_BLANK"),
    ],
)
def test_the_minimum_age_is_reached_on_the_birthday(born: str, code: str | None) -> None:
    assert [error.code for error in age_errors(born, minimum=16, today=TODAY)] == ([code] if code else [])


def test_a_person_born_on_a_leap_day_is_a_year_older_on_the_first_of_march() -> None:
    assert age_errors("2012-02-29", minimum=14, today=date(2026, 2, 28))
    assert not age_errors("2012-02-29", minimum=14, today=TODAY)
