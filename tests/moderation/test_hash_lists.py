"""Tests of hash lists: matching files are refused from every source, staff see why, and senders do not."""

import hashlib
import io
import random
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.copies import policies
from accounts.copies.models import HashEntry, HashKind, HashList, ListedAct, QuarantinedFile
from accounts.copies.policies import HashListDraft, read_hashes
from accounts.copies.queries import find_match
from accounts.copies.services.hash_lists import (
    change_list,
    create_list,
    delete_list,
    import_hashes,
    switch_list,
)
from accounts.copies.services.quarantine import release_file
from accounts.models import Account, AuditEntry
from accounts.policies.staff import OPERATOR, staff_of
from moderation.admin.audit_sentences import sentence
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.media.hashing import perceptual_hash
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.pictures import encoded, painted
from tests.factories.recordings import sample
from tests.factories.statuses import make_remote_media, make_remote_status
from tests.federation.remote_server import Answer, RemoteServer
from tests.support.client import Api, signed_in
from tests.support.work import show, work

pytestmark = pytest.mark.django_db
LISTS, FILES = "/admin/accounts/hashlist/", "/admin/accounts/quarantinedfile/"
REFUSED = {"error": "This file cannot be used here."}


@pytest.fixture(autouse=True)
def stores(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings.PRIVATE_ROOT, settings.MEDIA_ROOT = tmp_path_factory.mktemp("private"), tmp_path_factory.mktemp("media")
    settings.STAFF_SECOND_FACTOR = False


@pytest.fixture
def boss() -> Client:
    return signed_in(make_user("boss", role="Owner"))


def upload(account: Account, data: bytes, kind: str = "image/png", **more: Any) -> Any:
    file = SimpleUploadedFile("a", data, kind)
    return Api(make_token(account.user)).upload("POST", "/api/v2/media", file=file, **more)


def pdq(data: bytes) -> str:
    found = perceptual_hash(io.BytesIO(data))
    assert found is not None
    return found.hex()


def make_list(
    *hashes: str, kind: str = HashKind.SHA256, act: str = ListedAct.QUARANTINE, name: str = "bad"
) -> HashList:
    made = create_list(by=OPERATOR, draft=HashListDraft(name, kind, act=act))
    import_hashes(by=OPERATOR, hash_list=made, file=io.BytesIO("\n".join(hashes).encode()))
    switch_list(by=OPERATOR, hash_list=made, enabled=True)
    return made


def test_a_resized_and_re_encoded_picture_is_caught_and_staff_see_by_which_list(boss: Client) -> None:
    ada, bad = make_user("ada").account, painted(1)
    made = boss.post(
        f"{LISTS}add/",
        {"name": "Known pictures", "kind": "pdq", "act": "quarantine", "distance": "32", "source": "a friend"},
    )
    assert (made.status_code, HashList.objects.count()) == (200, 0), "the distance exceeds the limit"
    made = boss.post(
        f"{LISTS}add/",
        {"name": "Known pictures", "kind": "pdq", "act": "quarantine", "distance": "31", "source": "a friend"},
    )
    assert made.status_code == 302, made.context and made.context["errors"]
    found = HashList.objects.get()
    page = reverse("admin:accounts_hashlist_import_hashes", args=[found.pk])
    asked = boss.get(page)
    file = SimpleUploadedFile("list.csv", f"pdq,quality\n{pdq(encoded(bad))},100\nnonsense\n".encode())
    answered = boss.post(page, {asked.context["confirmed"]: "yes", "file": file}, follow=True)
    assert "1 hash is new. 0 were on the list. 1 line has no hash: 3." in answered.content.decode()

    copy = encoded(bad.resize((300, 225)), "JPEG", quality=60)
    assert upload(ada, copy, "image/jpeg").status_code == 200, "the list is still disabled"
    switch_list(by=OPERATOR, hash_list=found, enabled=True)
    answer = upload(ada, copy, "image/jpeg")
    assert (answer.status_code, answer.json()) == (422, REFUSED)
    assert upload(ada, encoded(painted(2))).status_code == 200
    row = QuarantinedFile.objects.get()
    assert (row.list_name, row.source, row.account_id, row.decision) == ("Known pictures", "upload", ada.id, "")
    assert row.distance is not None
    listed = boss.get(FILES).content.decode()
    assert f"Looks like a file on the list Known pictures (distance {row.distance})" in listed
    assert "Known pictures" in boss.get(f"{FILES}?by=lists").content.decode()

    with CaptureQueriesContext(connection) as queries:
        lists = boss.get(LISTS).content.decode()
    assert "Known pictures" in lists
    assert len(queries) <= 12
    exported: Any = boss.get(reverse("admin:accounts_hashlist_export_hashes", args=[found.pk]))
    assert b"".join(exported.streaming_content) == f"pdq\n{pdq(encoded(bad))}\n".encode()
    release_file(by=OPERATOR, file=row)
    work()
    assert upload(ada, copy, "image/jpeg").status_code == 200, "a released file is not compared again"
    entries = AuditEntry.objects.filter(target_type="HashList").order_by("id")
    assert [entry.action for entry in entries] == ["create", "import", "enable"]
    assert sentence(entries[1]) == "@boss read a file into the hash list Known pictures"


def test_a_matching_video_is_refused_and_not_stored_until_the_list_is_disabled(boss: Client) -> None:
    ada, video = make_user("ada").account, sample("video/mp4")
    found = make_list(hashlib.sha256(video).hexdigest(), act=ListedAct.REFUSE)
    answer = upload(ada, video, "video/mp4")
    assert (answer.status_code, answer.json()) == (422, REFUSED)
    row = QuarantinedFile.objects.get()
    assert (row.list_name, row.distance, row.path, row.decision) == ("bad", None, "", "refused")
    assert "The same file is on the list bad" in boss.get(FILES).content.decode()
    assert upload(ada, video + b"\0", "video/mp4").status_code == 202
    switch_list(by=OPERATOR, hash_list=found, enabled=False)
    assert upload(ada, video, "video/mp4").status_code == 202
    switch_list(by=OPERATOR, hash_list=found, enabled=True)
    release_file(by=OPERATOR, file=row)
    assert upload(ada, video, "video/mp4").status_code == 202


def test_pictures_of_profiles_and_thumbnails_are_compared_as_well() -> None:
    ada, bad = make_user("ada").account, encoded(painted(1))
    make_list(pdq(bad), kind=HashKind.PDQ)
    api = Api(make_token(ada.user))
    avatar = SimpleUploadedFile("a.jpg", encoded(painted(1), "JPEG", quality=70), "image/jpeg")
    assert api.upload("PATCH", "/api/v1/accounts/update_credentials", avatar=avatar).status_code == 422
    thumbnail = SimpleUploadedFile("a.png", bad, "image/png")
    assert upload(ada, sample("audio/wav"), "audio/wav", thumbnail=thumbnail).status_code == 422
    assert list(QuarantinedFile.objects.order_by("id").values_list("source", flat=True)) == ["profile", "thumbnail"]


def test_copies_of_files_of_other_servers_are_compared_before_they_are_shown(settings: Any) -> None:
    settings.FEDERATION_LOOPBACK = True
    bad = painted(1)
    make_list(pdq(encoded(bad)), kind=HashKind.PDQ)
    with RemoteServer().running() as server:
        server.pages["/a.jpg"] = Answer(encoded(bad.resize((400, 300)), "JPEG", quality=70), "image/jpeg")
        server.pages["/b.png"] = Answer(encoded(painted(2)), "image/png")
        author = make_remote()
        wrong, good = (
            make_remote_media(make_remote_status(author), f"{server.url}/{name}", copied=False)
            for name in ("a.jpg", "b.png")
        )
        path = "http://social.localhost/media_proxy/%d/original"
        assert show(path % good.id).status_code < 400
        assert show(path % wrong.id).status_code >= 400
        row = QuarantinedFile.objects.get()
        assert (row.source, row.url, row.list_name) == ("copy", f"{server.url}/a.jpg", "bad")
        asked = len(server.asked)
        assert show(path % wrong.id).status_code >= 400
        assert len(server.asked) == asked, "a quarantined file is not fetched again"


def test_a_hostile_file_is_read_in_bounded_memory_and_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Watched(io.BytesIO):
        largest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            Watched.largest = max(Watched.largest, len(line))
            return line

    good, other = "ab" * 32, "cd" * 32
    found = make_list(good)
    text = "\n".join([
        "\ufeffid,sha256,note", f'1,"{other.upper()}",x', f"2,{good}", "", "# a comment", "3,abc", f"4,{good}a", "4",
        "x" * 3_000_000, f"5,sha256:{other}", "\0\0", "ÿ" * 40,
    ])  # fmt: skip
    done = import_hashes(by=OPERATOR, hash_list=found, file=Watched(text.encode()))
    assert (done.added, done.wrong, done.first_wrong) == (1, 6, (6, 7, 8, 9, 11))
    assert Watched.largest <= 1000
    assert set(values(found)) == {good, other}
    for bad in (b"", b"nothing\n" * 5, b"\n\n#\n"):
        with pytest.raises(Invalid):
            import_hashes(by=OPERATOR, hash_list=found, file=io.BytesIO(bad), replace=True)
    monkeypatch.setitem(policies.HASHES_LIMIT, HashKind.SHA256, 3)
    several = "\n".join(f"{number:064x}" for number in range(4)).encode()
    with pytest.raises(Invalid):
        import_hashes(by=OPERATOR, hash_list=found, file=io.BytesIO(several), replace=True)
    with pytest.raises(Invalid):
        import_hashes(by=OPERATOR, hash_list=found, file=io.BytesIO(several[:140]))
    found.refresh_from_db()
    assert (found.size, set(values(found))) == (2, {good, other}), "the list is unchanged"
    import_hashes(by=OPERATOR, hash_list=found, file=io.BytesIO(several[:64]), replace=True)
    assert values(found) == [f"{0:064x}"]


def values(found: HashList) -> list[str]:
    return [bytes(value).hex() for value in found.entries.values_list("value", flat=True)]


def test_the_nearest_list_within_its_own_distance_is_found_in_a_fixed_number_of_statements(
    django_assert_num_queries: Any, settings: Any
) -> None:
    settings.RECENT_SECONDS = 0
    value = bytes(range(32))
    near, nearer = (bytes([value[0] ^ bits, *value[1:]]) for bits in (0b111, 0b1))
    strict = create_list(by=OPERATOR, draft=HashListDraft("strict", HashKind.PDQ, distance=2))
    wide = create_list(by=OPERATOR, draft=HashListDraft("wide", HashKind.PDQ))
    import_hashes(by=OPERATOR, hash_list=strict, file=io.BytesIO(near.hex().encode()))
    for found in (strict, wide):
        switch_list(by=OPERATOR, hash_list=found, enabled=True)
    assert find_match("0" * 64, value) is None
    import_hashes(by=OPERATOR, hash_list=wide, file=io.BytesIO(near.hex().encode()))
    with django_assert_num_queries(3):  # without a cache, the enabled lists are queried twice
        match = find_match("0" * 64, value)
    assert match is not None
    assert (match.hash_list.name, match.distance) == ("wide", 3)
    import_hashes(by=OPERATOR, hash_list=strict, file=io.BytesIO(nearer.hex().encode()))
    match = find_match("0" * 64, value)
    assert match is not None
    assert (match.hash_list.name, match.distance) == ("strict", 1)
    assert find_match("0" * 64, None) is None


def test_changing_lists_requires_the_permission_and_names_cannot_change(boss: Client) -> None:
    found, nobody = make_list("ab" * 32), staff_of(make_user("nobody"))
    for act in (
        lambda: create_list(by=nobody, draft=HashListDraft("x", "pdq")),
        lambda: change_list(by=nobody, hash_list=found, draft=HashListDraft("bad", "sha256")),
        lambda: switch_list(by=nobody, hash_list=found, enabled=False),
        lambda: delete_list(by=nobody, hash_list=found),
        lambda: import_hashes(by=nobody, hash_list=found, file=io.BytesIO(b"")),
    ):
        with pytest.raises(Forbidden):
            act()
    with pytest.raises(Invalid):
        create_list(by=OPERATOR, draft=HashListDraft("bad", "pdq"))
    page = f"{LISTS}{found.pk}/change/"
    assert boss.post(page, {"name": "x", "kind": "pdq", "act": "refuse", "distance": "3"}).status_code == 302
    found.refresh_from_db()
    assert (found.name, found.kind, found.act, found.distance) == ("bad", "sha256", "refuse", 3)
    for path in (LISTS, page, reverse("admin:accounts_hashlist_export_hashes", args=[found.pk])):
        assert signed_in(make_user()).get(path).status_code in (302, 403)
    assert boss.post(f"{LISTS}{found.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not HashEntry.objects.exists()
    with pytest.raises(NotFound):
        switch_list(by=OPERATOR, hash_list=found, enabled=True)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("manage_hash_lists", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_an_operator_manages_lists_by_command(tmp_path: Path) -> None:
    bad, hashes, out = tmp_path / "bad.png", tmp_path / "list.txt", tmp_path / "out.txt"
    bad.write_bytes(encoded(painted(1)))
    hashes.write_text(f"{pdq(bad.read_bytes())}\n")
    assert "no hash lists" in run("list")
    wanted = ("add", "pictures", "--kind", "pdq", "--distance", "20", "--source", "a friend")
    assert run(*wanted, "--dry-run") == "pictures: pdq, quarantine, 0 hashes, off, would be added.\n"
    assert run(*wanted) == "pictures: pdq, quarantine, 0 hashes, off, added.\n"
    for dry in (["--dry-run"], []):
        assert "1 hash is new" in run("import", "pictures", str(hashes), *dry)
    assert "1 was on the list" in run("import", "pictures", str(hashes))
    assert run("find", str(bad)) == "No enabled list has this file.\n"
    assert run("disable", "pictures", "--dry-run") == "pictures: 1 hash, would be off.\n"
    assert run("enable", "pictures") == "pictures: 1 hash, on.\n"
    assert run("find", str(bad)) == "Looks like a file on the list pictures (distance 0)\n"
    assert run("export", "pictures", str(out)) == f"1 hash in {out}\n"
    assert out.read_text() == f"pdq\n{hashes.read_text()}"
    assert '"size": 1' in run("list", "--json")
    for wrong in (("import", "pictures", str(tmp_path / "missing")), ("enable", "nothing"), ("add", "pictures")):
        with pytest.raises(CommandError):
            run(*wrong)
    assert "would be removed" in run("remove", "pictures", "--dry-run")
    run("remove", "pictures")
    assert not HashList.objects.exists()


@pytest.mark.parametrize("before", ["", "# from a friend\n\n", "\ufeff# from a friend\n"])
def test_the_columns_of_a_file_are_named_by_its_first_line_after_comments(before: str) -> None:
    file = io.BytesIO(f"{before}id,quality,PDQ\n1,100,{'ab' * 32}\n2,100,hash\n".encode())
    assert [value for _line, value in read_hashes(file)] == [bytes.fromhex("ab" * 32), None]


@pytest.mark.verify
def test_a_full_list_is_searched_with_an_index_and_a_million_wrong_lines_are_read_quickly() -> None:
    chance, limit = random.Random(1), policies.HASHES_LIMIT[HashKind.PDQ]
    begun = time.monotonic()
    assert (
        sum(value is None for _line, value in read_hashes(io.BytesIO(b"nothing of the kind\n" * 1_000_000)))
        == 1_000_000
    )
    read = time.monotonic() - begun
    hashes = [chance.randbytes(32) for _ in range(limit)]
    begun = time.monotonic()
    make_list(*(value.hex() for value in hashes), kind=HashKind.PDQ)
    imported = time.monotonic() - begun
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("ANALYZE accounts_hashentry")
        assert find_match("0" * 64, hashes[0]) is not None
        cursor.execute(f"EXPLAIN {queries[-1]['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("SELECT pg_total_relation_size('accounts_hashentry')")
        (size,) = cursor.fetchone()
    assert "accounts_hashentry_words" in plan, plan
    begun = time.monotonic()
    for _ in range(100):
        assert find_match("0" * 64, chance.randbytes(32)) is None
    asked = time.monotonic() - begun
    print(
        f"a million wrong lines {read:.1f} s; {limit} hashes {imported:.0f} s, {size >> 20} MiB; a look-up {asked * 10:.1f} ms"
    )
