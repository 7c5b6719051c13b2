"""Tests of the battery itself: it accepts endpoints that follow the rules, and fails for endpoints that do not."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from django.test import Client

from accounts.models import Tag
from social.api.access import Access, optional_user
from social.api.inputs import parameters
from social.api.serializers import QueriesForbidden
from tests.api.conftest import Tokens
from tests.api.sample import TagSerializer, TagsViewSet
from tests.support import access_checks, answers, entities
from tests.support import battery as promises
from tests.support.battery import Row, Scene, battery, every_access, find_endpoint, without_row
from tests.support.schema import ID, S, exactly

_numbers = count()


@pytest.fixture(autouse=True)
def _sample_entity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(entities.ENTITIES, "SampleTag", exactly({"id": ID, "name": S}))


def some_tags(callers: Any, size: int) -> Scene:
    Tag.objects.all().delete()
    made = [Tag.objects.create(name=f"t{next(_numbers)}", display_name="t") for _ in range(size)]
    secret = Tag.objects.create(name=f"secret{next(_numbers)}", display_name="s")
    Tag.objects.filter(id=secret.id).exists()
    return Scene(ids={"id": made[0].id}, foreign={"id": secret.id}, params={})


def only_tags(callers: Any, size: int) -> Scene:
    scene = some_tags(callers, size)
    Tag.objects.filter(name__startswith="secret").delete()
    return scene


def a_new_tag(callers: Any, size: int) -> Scene:
    return Scene(params={"name": f"n{next(_numbers)}"})


LIST = Row("GET api/v1/tags", only_tags)
ROWS = [
    LIST,
    Row("GET api/v1/tags/index", only_tags),
    Row("GET api/v1/tags/offsets", only_tags),
    Row("GET api/v1/tags/<id>", some_tags, flat=True),
    Row("DELETE api/v1/tags/<id>", some_tags),
]
test_promises_of_the_sample = battery(ROWS, "tests.api.sample_urls")
test_access_of_the_sample = every_access("tests.api.sample_urls")


def broken(promise: Callable[[Row, Any], None], row: Row, callers: Tokens) -> str:
    with pytest.raises(AssertionError) as caught:
        promise(row, callers)
    return str(caught.value)


@pytest.mark.django_db
def test_an_endpoint_that_queries_more_for_more_rows_is_caught(callers: Tokens) -> None:
    row = Row("GET api/v1/tags/unflat", only_tags)
    assert "3 queries for 2 rows, 11 for 10" in broken(promises.is_flat, row, callers)


@pytest.mark.django_db
def test_a_serializer_that_queries_is_caught(callers: Tokens) -> None:
    with pytest.raises(QueriesForbidden):
        promises.answers_with_its_entity(Row("GET api/v1/tags/asking", only_tags), callers)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("entity", "complaint"),
    [
        ({"id": 5, "name": "x"}, "5 is not of type 'string'"),
        ({"id": "5"}, "'name' is a required property"),
        ({"id": "5", "name": None}, "None is not of type 'string'"),
        ({"id": "5", "name": "x", "more": 1}, "'more' was unexpected"),
    ],
)
def test_a_body_that_is_not_the_entity_is_caught(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch, entity: dict[str, Any], complaint: str
) -> None:
    monkeypatch.setattr(TagSerializer, "to_representation", lambda self, tag: entity)
    assert complaint in broken(promises.answers_with_its_entity, LIST, callers)


@pytest.mark.django_db
def test_a_list_that_skips_or_repeats_is_caught(callers: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    from social.api import pagination

    reader = pagination._reader
    monkeypatch.setattr(pagination, "_reader", lambda cursor: lambda item: reader(cursor)(item) + 1)
    broken(promises.shows_each_item_once, LIST, callers)


@pytest.mark.django_db
def test_a_list_without_links_is_caught(callers: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    from social.api.pagination import ListPage

    monkeypatch.setattr(ListPage, "headers", property(lambda self: {}))
    broken(promises.shows_each_item_once, LIST, callers)


@pytest.mark.django_db
def test_a_value_that_makes_the_server_fail_is_caught(callers: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.access_checks.Client", lambda: Client(raise_request_exception=False))
    row = Row("POST api/v1/tags", a_new_tag)
    assert "answered 500" in broken(promises.wrong_types_are_no_error_of_the_server, row, callers)


@pytest.mark.django_db
def test_an_answer_or_a_parameter_that_is_not_declared_is_caught(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TagsViewSet, "__module__", "accounts.viewsets.tags")
    monkeypatch.setattr(TagSerializer, "to_representation", lambda self, tag: {"id": 5})
    Tag.objects.create(name="one", display_name="one")
    assert Client().get("/api/v1/tags").status_code == 200
    assert ["5 is not of type 'string'" in problem for problem in answers.problems()] == [True]

    def asking(self: TagsViewSet, request: Any) -> Any:
        parameters(request).get("only_media")
        return []

    monkeypatch.setattr(TagsViewSet, "asking", asking)
    Client().get("/api/v1/tags/asking")
    assert ["parameters it does not declare: ['only_media']" in found for found in answers.problems()] == [True]


@pytest.mark.django_db
def test_an_endpoint_without_its_access_check_is_caught(callers: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "check", lambda self, identity, refusal=None: None)
    row = Row("GET api/v1/tags/<id>", some_tags)
    for promise in (
        access_checks.a_stranger_is_refused,
        access_checks.a_wrong_token_is_refused,
        access_checks.a_narrow_token_is_refused,
        access_checks.an_application_is_refused,
    ):
        broken(promise, row, callers)


@pytest.mark.django_db
def test_an_endpoint_that_shows_another_users_object_is_caught(callers: Tokens) -> None:
    def leaking(callers: Any, size: int) -> Scene:
        scene = some_tags(callers, size)
        return replace(scene, foreign={"id": scene.ids["id"]})

    broken(promises.what_is_foreign_is_not_found, Row("GET api/v1/tags/<id>", leaking), callers)


@pytest.mark.django_db
def test_an_endpoint_that_finds_a_row_for_an_invalid_id_is_caught(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TagsViewSet, "retrieve", lambda self, request, id: {"id": "1", "name": "x"})
    broken(promises.an_unknown_id_is_not_found, Row("GET api/v1/tags/<id>", some_tags), callers)
    monkeypatch.setattr("social.api.viewsets.is_id", lambda name: False)
    broken(promises.what_is_no_id_is_not_found, Row("GET api/v1/tags/<id>", some_tags), callers)


def test_endpoints_without_a_row_are_named() -> None:
    missing = without_row(ROWS)
    assert "GET api/v1/feed" in missing
    assert "GET api/v1/tags" not in missing
    assert find_endpoint("GET api/v1/tags").access("get") == optional_user("read:statuses")
    with pytest.raises(AssertionError, match="not routed"):
        find_endpoint("GET api/v1/nothing")


@pytest.mark.parametrize(
    "body",
    [
        {"id": 5},
        {"account_id": 5},
        {"account_id": "abc"},
        {"id": str(2**63)},
        {"media_ids": ["1", 2]},
        {"media_ids": "1"},
        [{"deep": {"status_id": 1.5}}],
        {"id": "5", "id_int": 5},
        {"id": "12345678901", "number": 12345678901},
    ],
)
def test_ids_that_are_no_strings_are_caught(body: Any) -> None:
    """SEED-041, SEED-042, SEED-043."""
    with pytest.raises(AssertionError):
        entities.check_ids(body)


def test_ids_that_are_strings_pass() -> None:
    entities.check_ids(
        {"id": "1", "in_reply_to_id": None, "role": {"id": "-99"}, "status_ids": ["5"], "client_id": "x"}
    )


def test_every_schema_is_a_schema() -> None:
    from jsonschema import Draft202012Validator

    for name, schema in entities.ENTITIES.items():
        Draft202012Validator.check_schema(schema)
        with pytest.raises(AssertionError):
            entities.check(name, 5)
