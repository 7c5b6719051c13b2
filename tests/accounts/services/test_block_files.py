"""Tests of two moderators who import block lists at the same time."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.identity.services.sign_up_files import EmailDomainFile, NetworkFile
from accounts.models import EmailDomainBlock, IpBlock
from accounts.policies.staff import OPERATOR
from accounts.services.block_files import BlockFile, import_file, plan_file, read_file
from moderation.models import DomainAllow
from moderation.services.domain_files import AllowFile
from tests.support.at_once import until_waiting

pytestmark = pytest.mark.django_db(transaction=True)
_NETWORK = {"first": "192.0.2.1", "last": "192.0.2.1", "severity": "no_access"}


@pytest.mark.parametrize(
    ("kind", "file", "colleague", "actions"),
    [
        (EmailDomainFile(), b"a.example\nb.example", EmailDomainBlock(domain="a.example"), ["keep", "add"]),
        (AllowFile(), b"a.example\nb.example", DomainAllow(domain="a.example"), ["add", "add"]),
        (NetworkFile(), b"192.0.2.1\n192.0.2.2", IpBlock(network="192.0.2.1/32", **_NETWORK), ["keep", "add"]),
    ],
)
def test_a_concurrent_block_by_a_colleague_does_not_refuse_the_other_lines(
    kind: BlockFile[Any], file: bytes, colleague: Any, actions: list[str]
) -> None:
    planned = plan_file(kind, read_file(kind, file))

    def take_in() -> list[str]:
        try:
            return [plan.action for plan in import_file(kind, by=OPERATOR, planned=planned)]
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        with transaction.atomic():
            colleague.save(force_insert=True)
            taken_in = threads.submit(take_in)
            until_waiting(1)
        assert taken_in.result() == actions
    assert type(colleague).objects.count() == 2
