"""Tests that a refused activity has a reason, and that refusals are counted by reason and sender."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import federation
from accounts.copies.policies import FileReason
from accounts.models import Account
from federation.inbound.quotas import host_of
from federation.reasons import Reason, Refused, Rejected
from federation.signatures.message import BadSignature
from social.kernel import reasons
from social.kernel.http.errors import FetchReason
from social.kernel.refusals import Refusal, load_refusals, write_noted
from statuses.policies.previews import PageReason
from tests.architecture.test_comments import ROOT
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import RemotePerson
from tests.support.interop_page import PAGE, refusals
from tests.support.work import work

KINDS = (Reason, FetchReason, FileReason, PageReason)


def _subclasses(kind: type[Refused]) -> Iterator[str]:
    yield kind.__name__
    for one in kind.__subclasses__():
        yield from _subclasses(one)


def _sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in Path(federation.__file__).parent.rglob("*.py"):
        if "migrations" not in path.parts:
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def test_no_refusal_lacks_a_reason() -> None:
    own = {"Missing", "OwnAddress"}  # these classes set the reason in their constructors
    names = {*_subclasses(Rejected), *_subclasses(BadSignature)} - own
    unexplained = [
        f"{path}:{node.lineno}"
        for path, module in _sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and not (
            node.args
            and isinstance(node.args[0], ast.Attribute)
            and (ast.unparse(node.args[0]).startswith("Reason.") or node.args[0].attr == "reason")
        )
    ]
    bare = [
        f"{path}:{node.lineno}"
        for path, module in _sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id in names
    ]
    assert unexplained + bare == [], "every refusal names a member of Reason"


def test_every_reason_is_used_and_names_its_source() -> None:
    text = "\n".join(
        path.read_text()
        for folder in ("accounts", "federation", "social", "statuses")
        for path in (ROOT / folder).rglob("*.py")
    )
    assert [reason.key for kind in KINDS for reason in kind if not reason.rule] == []
    unused = [reason.key for kind in KINDS for reason in kind if f".{reason.name}" not in text]
    assert unused == [], "every reason is used"
    assert {kind for kind in reasons.Reason.__subclasses__() if not kind.__module__.startswith("tests.")} == set(KINDS)


def test_the_list_of_reasons_is_documented() -> None:
    assert refusals() in PAGE.read_text(), "run `make documents`"


@pytest.mark.django_db
def test_refusals_are_counted_for_the_server(zoe: RemotePerson, alice: Account) -> None:
    for _again in range(2):
        assert deal(zoe, zoe.activity("Like", "https://elsewhere.example/1")).startswith("rejected: ")
    [(sender, reason, number)] = load_refusals([host_of(zoe.uri)])
    assert (sender, reason, number) == (host_of(zoe.uri), Reason.NO_SUCH_NOTE.key, 2)


@pytest.mark.django_db
def test_parts_of_a_post_that_are_left_out_are_counted_for_its_server(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    note = zoe.note(
        "x" * 10,
        attachment=[{"type": "Document", "url": f"https://elsewhere.example/{number}.png"} for number in range(40)]
        + ["no address"],
        tag=[{"type": "Mention"}, {"type": "Hashtag", "name": "#1234"}],
    )
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    counts = {reason for _sender, reason, _number in load_refusals([host_of(zoe.uri)])}
    assert counts == {
        Reason.TOO_MANY_ATTACHMENTS.key,
        Reason.ATTACHMENT_WITHOUT_ADDRESS.key,
        Reason.MENTION_WITHOUT_ADDRESS.key,
        Reason.TAG_WITHOUT_NAME.key,
    }


@pytest.mark.django_db
def test_refusals_after_the_answer_202_are_counted(zoe: RemotePerson, alice: Account) -> None:
    # Write the counts that other tests have left in this process, so that they do not appear in this test.
    write_noted()
    Refusal.objects.all().delete()
    introduced(zoe, alice)
    assert zoe.send(zoe.activity("View", alice.uri)).status_code == 202
    stranger = "https://unknown.example/users/x"
    gone = {"type": "Delete", "actor": stranger, "object": stranger, "id": f"{stranger}#delete"}
    assert zoe.send(gone).status_code == 202
    work()
    write_noted()
    assert [(reason, number) for _sender, reason, number in load_refusals([host_of(zoe.uri), ""])] == [
        (Reason.IGNORED_KIND.key, 1),
        (Reason.OF_NOBODY_KNOWN.key, 1),
    ]
