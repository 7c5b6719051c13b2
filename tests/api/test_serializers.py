"""Tests that serializers do not query the database (DESIGN, "The rooms")."""

import pytest

from accounts.models import Tag
from social.api.serializers import QueriesForbidden, no_queries
from tests.api.sample import AskingSerializer, TagSerializer

pytestmark = pytest.mark.django_db


@pytest.fixture
def tags() -> list[Tag]:
    return [Tag.objects.create(name=name, display_name=name) for name in ("a", "b")]


def test_a_serializer_shows_one_row_and_many(tags: list[Tag]) -> None:
    shown = [{"id": str(tag.id), "name": tag.name} for tag in tags]
    assert TagSerializer(tags[0]).data == shown[0]
    assert TagSerializer(tags, many=True).data == shown
    assert TagSerializer([], many=True).data == []


def test_a_serializer_gets_its_context(tags: list[Tag]) -> None:
    assert TagSerializer(tags, many=True, context={"viewer": 5}).context == {"viewer": 5}


def test_a_serializer_that_queries_is_caught(tags: list[Tag]) -> None:
    with pytest.raises(QueriesForbidden, match="accounts_tag"):
        _ = AskingSerializer(tags[0]).data
    with pytest.raises(QueriesForbidden):
        _ = TagSerializer(Tag.objects.all(), many=True).data


def test_after_a_block_without_queries_the_database_can_be_queried_again(tags: list[Tag]) -> None:
    with pytest.raises(QueriesForbidden), no_queries():
        Tag.objects.count()
    assert Tag.objects.count() == 2
