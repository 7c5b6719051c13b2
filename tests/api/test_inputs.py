"""Tests of accepted formats of single values, and of the errors for invalid ones (contract, parameters section 0)."""

import base64
import json
from typing import Annotated, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from social.api.fields import ClientChoice, ClientString, as_boolean, as_integer, as_list
from social.api.inputs import Form, Id, Input, Stripped
from social.kernel import errors
from tests.api.sample import OptionDraft, OptionInput, TagDraft, TagInput

pytestmark = pytest.mark.usefixtures("callers")


def read(**values: Any) -> TagDraft:
    return TagInput.read_mapping({"name": "n", **values})


def refused(**values: Any) -> str:
    with pytest.raises(errors.Invalid) as caught:
        read(**values)
    return caught.value.message


@pytest.mark.parametrize("value", ["false", "0", "f", "F", "FALSE", "off", "OFF", "False", False, 0])
def test_all_spellings_of_false_are_false(value: Any) -> None:
    assert read(sensitive=value).sensitive is False


@pytest.mark.parametrize("value", ["true", "1", "on", "t", "True", "yes", "anything", True, 1, 2])
def test_every_other_value_of_a_boolean_is_true(value: Any) -> None:
    assert read(sensitive=value).sensitive is True


def test_an_empty_boolean_is_unset() -> None:
    assert as_boolean(None) is False
    assert read(sensitive="").sensitive is False


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("12", 12),
        (" 12 ", 12),
        ("-5", -5),
        ("+5", 5),
        ("12abc", 12),
        ("abc", 0),
        ("1.9", 1),
        (3.7, 3),
        (True, 1),
        ([], 0),
    ],
)
def test_a_text_that_is_no_number_is_read_as_0(value: Any, number: int) -> None:
    assert as_integer(value) == number
    assert read(weight=value).weight == number


def test_integers_are_clamped_to_the_range_of_the_database() -> None:
    assert as_integer("9" * 40) == 2**63 - 1
    assert as_integer("-" + "9" * 40) == -(2**63 - 1)
    assert as_integer(float("inf")) == 0
    assert as_integer("", default=20) == 20


def test_bounds_are_named_in_the_error() -> None:
    assert refused(weight=101) == "Validation failed: Weight must be less than or equal to 100"
    assert refused(weight=-101) == "Validation failed: Weight must be greater than or equal to -100"


def test_ids_are_strings_or_numbers_and_anything_else_is_not_found() -> None:
    assert read(parent_id="123").parent_id == 123
    assert read(parent_id="123abc").parent_id == 123, "the digits at the beginning are read"
    assert read(parent_id=123).parent_id == 123
    assert read(parent_id=None).parent_id is None
    assert read(parent_id="").parent_id is None
    wrong_ones: list[Any] = ["abc", ".5", "-1", str(2**63), [], {}, True, "١٢"]
    for wrong in wrong_ones:
        with pytest.raises(errors.NotFound):
            read(parent_id=wrong)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (["1", 2, "1", "x"], (1, 2)),
        ({"0": "5", "10": "7", "2": "6"}, ()),
        ("9", (9,)),
        ([], ()),
        ({"a": "1"}, ()),
    ],
)
def test_lists_of_ids_are_read_in_every_notation(value: Any, ids: tuple[int, ...]) -> None:
    assert read(tag_ids=value).tag_ids == ids


def test_a_list_that_is_too_long_is_refused() -> None:
    assert refused(tag_ids=list("123456")) == "Validation failed: Tag ids is too long (maximum is 5)"


def test_a_single_value_for_a_list_is_dropped_unless_it_is_accepted() -> None:
    assert read(words="one").words == ()
    assert read(words=["one", 2, None, {}]).words == ("one", "2")
    assert as_list("x") == []
    assert as_list("x", scalar=True) == ["x"]


@pytest.mark.parametrize(
    "value",
    [
        [{"title": "a"}, {"title": "b", "weight": "3"}],
        {"0": {"title": "a"}, "1": {"title": "b", "weight": 3}},
        {"7": {"title": "b", "weight": 3}, "3": {"title": "a"}},
        {"9" * 5000: {"title": "b", "weight": 3}, "0010": {"title": "a"}},
    ],
    ids=["array", "indices", "unordered indices", "endless index"],
)
def test_objects_in_lists_are_read_in_all_notations(value: Any) -> None:
    assert read(options=value).options == (OptionDraft("a"), OptionDraft("b", 3))


def test_an_error_inside_a_list_is_reported() -> None:
    assert refused(options=[{"title": "too long"}]) == "Validation failed: Title is too long (maximum is 5 characters)"


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01T12:00:00.250+02:00", "2026-03-01T10:00:00.250000+00:00"),
        ("2026-03-01 12:00", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("Sun, 01 Mar 2026 12:00:00 +0100", "2026-03-01T11:00:00+00:00"),
        ("20260301T120000Z", "2026-03-01T12:00:00+00:00"),
    ],
)
def test_dates_are_read_in_all_forms(value: str, moment: str) -> None:
    assert read(due=value).due.isoformat() == moment


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-13-01", 5, "0001-01-01T00:00:00+14:00", f"Sun, 01 Mar 2026 12:00:00 +{10**13}"]
)
def test_an_invalid_date_is_refused(value: Any) -> None:
    assert refused(due=value) == "Validation failed: Date is invalid"


def test_texts_and_choices_are_read_unchanged_within_limits() -> None:
    assert read(name=" x ").name == " x "
    assert TagInput.read_mapping({"name": 5}).name == "5"
    assert read(kind="loud").kind == "loud"
    assert read(kind="").kind == "plain"
    assert refused(kind="silent") == "Validation failed: Kind is not included in the list"
    assert refused(name="x" * 21) == "Validation failed: Name is too long (maximum is 20 characters)"
    assert refused(focus="nan") == "Validation failed: Focus is invalid"
    assert read(focus="0.5").focus == 0.5


def test_parameters_that_were_not_sent_have_their_defaults() -> None:
    assert TagInput.read_mapping({"name": "x"}) == TagDraft(name="x")


def test_a_missing_required_parameter_is_400() -> None:
    for body in ({}, {"name": ""}, {"name": None}):
        response = Client().post("/api/v1/echo/draft", json.dumps(body), "application/json")
        assert response.status_code == 400
        assert response.json() == {"error": "param is missing or the value is empty or invalid: name"}


def test_all_errors_are_listed_together() -> None:
    response = Client().post("/api/v1/echo/draft", {"name": "x" * 30, "kind": "silent"})
    assert response.status_code == 422
    assert response.json() == {
        "error": "Validation failed: Name is too long (maximum is 20 characters), Kind is not included in the list"
    }


def test_details_name_each_field_with_a_code() -> None:
    response = Client().post("/api/v1/echo/detailed", {"name": "x" * 30, "kind": "silent"})
    assert response.status_code == 422
    assert response.json()["details"] == {
        "name": [{"error": "ERR_TOO_LONG", "description": "is too long (maximum is 20 characters)"}],
        "kind": [{"error": "ERR_INCLUSION", "description": "is not included in the list"}],
    }


class TranslatedInput(Input[TagDraft]):
    """An input with an error message from Django's own catalogs."""

    name = ClientString(max_length=1, error_messages={"max_length": gettext_lazy("Enter a valid value.")})


def test_messages_are_translated_when_they_are_sent_not_when_the_fields_are_made() -> None:
    for language, message in (("de", "Name Bitte einen gültigen Wert eingeben."), ("en", "Name Enter a valid value.")):
        with translation.override(language), pytest.raises(errors.Invalid) as caught:
            TranslatedInput.read_mapping({"name": "long"})
        assert message in caught.value.message


@pytest.mark.parametrize("field", [*TagInput.reader().fields.values(), *OptionInput.reader().fields.values()], ids=str)
def test_every_field_stores_its_messages_untranslated(field: Any) -> None:
    assert all(isinstance(message, Promise) for message in field.error_messages.values())


def test_files_come_as_parts_or_as_data_urls() -> None:
    """Seed decision D-06."""
    data = "data:image/png;base64," + base64.b64encode(b"png bytes").decode()
    expected = {"type": "image/png", "size": 9, "head": "png bytes"}
    for answer in (
        Client().post("/api/v1/echo/draft", {"name": "x", "picture": data}).json(),
        Client().post("/api/v1/echo/draft", json.dumps({"name": "x", "picture": data}), "application/json").json(),
        Client()
        .post("/api/v1/echo/draft", {"name": "x", "picture": SimpleUploadedFile("upload", b"png bytes", "image/png")})
        .json(),
    ):
        assert {key: answer["picture"][key] for key in expected} == expected


@pytest.mark.parametrize("value", ["https://example.com/a.png", "data:image/png", "data:image/png;base64,@", 5])
def test_any_other_string_for_a_file_is_400(value: Any) -> None:
    response = Client().post("/api/v1/echo/draft", json.dumps({"name": "x", "picture": value}), "application/json")
    assert response.status_code == 400


class SampleForm(Form):
    """A form with a field of each type."""

    required_keys = ("name",)
    name: Stripped = ""
    loud: bool = False
    weight: int | None = 7
    parent: Id | None = None
    words: tuple[str, ...] | None = None
    ids: tuple[int, ...] = ()
    kind: Annotated[str, ClientChoice(("plain", "loud"))] = "plain"
    unsent: Annotated[bool, None] = False


def test_the_annotated_types_of_a_form_decide_how_values_are_read() -> None:
    sent = {"name": " x ", "loud": "off", "weight": "12abc", "parent": "5", "words": ["a", 2], "ids": ["1", "x"]}
    assert SampleForm.read_mapping(sent) == SampleForm("x", False, 12, 5, ("a", "2"), (1,))
    assert SampleForm.read_mapping({"name": "x", "unsent": "true"}) == SampleForm("x"), (
        "a field that is not a parameter is not read"
    )
    assert "unsent" not in SampleForm.names()


@pytest.mark.parametrize("name", [None, "", "  ", [], {"a": "b"}])
def test_a_required_value_that_is_empty_after_reading_counts_as_missing(name: Any) -> None:
    with pytest.raises(errors.BadRequest):
        SampleForm.read_mapping({"name": name})


def test_reading_an_input_creates_no_new_serializer() -> None:
    assert TagInput.reader() is TagInput.reader()
