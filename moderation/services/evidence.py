"""Exports the data of an account into one file, for a court or an authority that has requested the data."""

import hashlib
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from typing import IO, Any, Final

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose, QuarantinedFile, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.models import Account, AuditEntry, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.users import find_role
from accounts.services.audit import record_about
from accounts.spam.models import SpamRuleMatch
from moderation.models import Report, Strike
from moderation.services.reports import note_posts_seen
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.errors import Conflict, FieldError, Invalid
from social.kernel.media import storage
from social.kernel.text.markup import plain
from statuses.models import HeldPost, MediaAttachment, Mention, Status, StatusEdit
from statuses.policies.posts import SHOWN_COLUMNS

BATCH_SIZE: Final = 200
REASON_LIMIT: Final = 1000
_CHUNK: Final = 1 << 16
_NAMES: Final = {"spoiler_text": "warning"}


def export_evidence(*, by: Staff, account: Account, reason: str, to: IO[bytes]) -> "EvidenceArchive":
    """Call `begin_export`, then `write_evidence` immediately."""
    begin_export(by=by, account=account, reason=reason)
    return write_evidence(by=by, account=account, reason=reason, to=to)


def begin_export(*, by: Staff, account: Account, reason: str) -> None:
    """Log an export of evidence in the audit log, before anything is written. Raises Forbidden without DELETE_USER_DATA or
    a rank above the person's; Invalid without a reason; Conflict for an account that is neither held nor reported.
    """
    require(by, Permission.DELETE_USER_DATA, over=find_role(account.pk))
    if not 0 < len(reason.strip()) <= REASON_LIMIT:
        message = _("must have between 1 and %(count)d characters") % {"count": REASON_LIMIT}
        raise Invalid.of([FieldError("reason", "ERR_BLANK", message)])
    account = Account.objects.get(pk=account.pk)
    reports = Report.objects.filter(target_account=account).count()
    if account.held_at is None and not reports:
        raise Conflict(_("Evidence can only be exported for accounts that are on hold or reported."))
    with transaction.atomic():
        held = account.held_at is not None
        record_about(by, "export", account, reason=reason.strip(), held=held, reports=reports)


def write_evidence(*, by: Staff, account: Account, reason: str, to: IO[bytes]) -> "EvidenceArchive":
    """Write a zip with profile, addresses, reports, strikes, audit log, and posts with their files; `manifest.json` has the
    SHA-256 of each part. Call `begin_export` first. The zip includes all posts of a held account, but only the reported posts
    of other accounts; deleted posts are included. Each exported post that is private or direct is logged as seen.
    """
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    account = Account.objects.get(pk=account.pk)
    reports = list(Report.objects.filter(target_account=account).order_by("id"))
    strikes = list(Strike.objects.select_related("appeal").filter(target_account=account).order_by("id"))
    name = f"@{account.acct}"
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as zipped:
        archive = EvidenceArchive(zipped)
        archive.add_json("profile.json", _profile(account, user))
        archive.add_json("addresses.json", _addresses(account, user))
        archive.add_json("reports.json", [_report(report) for report in reports])
        archive.add_json("strikes.json", [_strike(strike) for strike in strikes])
        archive.add_json("audit.json", _entries(account, user))
        named_ids = {number for report in reports for number in report.status_ids}
        named_ids |= {number for strike in strikes for number in strike.status_ids or ()}
        files: list[MediaAttachment] = []
        for batch in _post_batches(account, named_ids):
            note_posts_seen(by=by, posts=[(post.id, name, post.visibility) for post in batch])
            texts, media = _posts(batch)
            files += media
            archive.posts += len(batch)
            archive.add_json(f"posts/{batch[0].id}.json", texts)
        archive.add_json("held_posts.json", _held_posts(account) if account.held_at is not None else [])
        archive.add_json("quarantine.json", _quarantined(account))
        for item in files:
            archive.add_files(item)
        for path in (account.avatar, account.header):
            archive.add_stored(f"profile/{path.rpartition('/')[2]}", path)
        manifest = {
            "server": settings.LOCAL_DOMAIN,
            "account": name,
            "exported_at": clock.now(),
            "exported_by": by.name,
            "reason": reason.strip(),
            "held_since": account.held_at,
            "files": archive.members,
        }
        archive.add_json("manifest.json", manifest)
    return archive


class EvidenceArchive:
    """A zip of evidence: the number of `posts` in it, and the size and SHA-256 of each of its `members`, keyed by name."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zipped = zipped
        self.posts = 0
        self.members: dict[str, dict[str, Any]] = {}

    def add_json(self, name: str, value: Any) -> None:
        data = json.dumps(value, default=clock.iso, ensure_ascii=False, indent=1).encode("utf-8", "replace")
        self._zipped.writestr(name, data)
        self.members[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def add_stored(self, name: str, path: str) -> None:
        """Add a stored file; a missing file is listed without a digest."""
        if not path or name in self.members:
            return
        digest, size = hashlib.sha256(), 0
        try:
            with (
                storage.open_stored(path) as file,
                self._zipped.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member,
            ):
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    member.write(chunk)
        except FileNotFoundError:
            self.members[name] = {"missing": True}
            return
        self.members[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def add_files(self, media: MediaAttachment) -> None:
        """Add the stored file of an attachment: the original of a local post, or the copy of a remote file."""
        path = media.file or media.source
        if not path and media.remote_url:
            copy = RemoteCopy.objects.filter(digest=digest_of(CopyPurpose.ATTACHMENT, media.remote_url)).first()
            path = copy.file if copy is not None else ""
        self.add_stored(f"media/{media.id}.{path.rpartition('.')[2]}", path)


def _post_batches(account: Account, named_ids: set[int]) -> Iterator[list[Status]]:
    """Return the posts to export, including deleted posts, in batches, oldest first."""
    rows = Status.objects.filter(account=account, reblog_of=None).order_by("id")
    if account.held_at is None:
        for batch in in_batches(sorted(named_ids), BATCH_SIZE):
            if posts := list(rows.filter(id__one_of=batch)):
                yield posts
        return
    after = 0
    while posts := list(rows.filter(id__gt=after)[:BATCH_SIZE]):
        yield posts
        after = posts[-1].id


def _posts(batch: list[Status]) -> tuple[list[dict[str, Any]], list[MediaAttachment]]:
    """Return the texts of the posts with their edits and mentions, and their files; four queries."""
    ids = [post.id for post in batch]
    edits: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for edit in StatusEdit.objects.filter(status_id__one_of=ids).order_by("created_at", "id"):
        edits[edit.status_id].append({"at": edit.created_at, **_text_values(edit)})
    addressed: dict[int, list[str]] = defaultdict(list)
    for mention in Mention.objects.select_related("account").filter(status_id__one_of=ids).order_by("id"):
        addressed[mention.status_id].append(mention.account.acct)
    attached = Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids)
    media = list(MediaAttachment.objects.filter(attached).order_by("id"))
    texts = [
        {
            "id": str(post.id),
            "uri": post.uri,
            "url": post.url,
            "written_at": post.created_at,
            "edited_at": post.edited_at,
            "deleted_at": post.deleted_at,
            "visibility": post.visibility,
            **_text_values(post),
            "html": post.content,
            "addressed": addressed[post.id],
            "earlier": edits[post.id],
            "files": [
                {"id": str(item.id), "description": item.description, "remote_url": item.remote_url}
                for item in media
                if post.id in (item.status_id, item.former_status_id)
            ],
        }
        for post in batch
    ]
    return texts, media


def _text_values(version: Status | StatusEdit) -> dict[str, Any]:
    columns = {_NAMES.get(name, name): getattr(version, name) for name in SHOWN_COLUMNS}
    return columns | {"text": plain(version.content)}


def _held_posts(account: Account) -> list[dict[str, Any]]:
    return [
        {"id": str(held.id), "written_at": held.written_at, "rule": held.rule_name, "text": held.excerpt}
        for held in HeldPost.objects.filter(account=account).order_by("id")
    ]


def _quarantined(account: Account) -> list[dict[str, Any]]:
    """Return the metadata of the account's files that the scanner or a hash list refused, without their bytes."""
    files: Any = QuarantinedFile.objects.filter(account=account).order_by("id")
    return list(files.values("sha256", "reason", "distance", "decision", at=F("created_at"), list=F("list_name")))


def _profile(account: Account, user: User | None) -> dict[str, Any]:
    # The whole row is exported, because no column is secret.
    columns: dict[str, Any] = {
        column.attname: getattr(account, column.attname) for column in Account._meta.concrete_fields
    }
    columns["id"] = str(account.id)
    if user is not None:
        columns |= {
            "role": user.role.name,
            "locale": user.locale,
            "signed_up_at": user.created_at,
            "sign_up_reason": user.sign_up_reason,
            "active_at": user.active_at,
            "disabled_at": user.disabled_at,
        }
    return columns


def _addresses(account: Account, user: User | None) -> dict[str, Any]:
    """Return the e-mail and IP addresses that are stored."""
    if user is None:
        return {"domain": account.domain}
    emails, identities, sessions = (
        model.objects.filter(user=user).order_by("id") for model in (EmailAddress, SocialAccount, UserSession)
    )
    return {
        "email": user.email,
        "emails": list(emails.values("email", "verified", "primary")),
        "identities": list(identities.values(issuer=F("provider"), subject=F("uid"), since=F("date_joined"))),
        "sign_up_address": user.sign_up_ip,
        "sessions": list(
            sessions.values("last_seen_at", address=F("ip"), browser=F("user_agent"), since=F("created_at"))
        ),
        "rules_met": [
            {"rule": match.rule.name, "at": match.created_at, "outcome": match.outcome}
            for match in SpamRuleMatch.objects.select_related("rule").filter(account=account).order_by("id")[:1000]
        ],
    }


def _report(report: Report) -> dict[str, Any]:
    """Return a report without its reporter, who is not part of the evidence."""
    return {
        "id": str(report.id),
        "at": report.created_at,
        "category": report.category,
        "comment": report.comment,
        "posts": [str(number) for number in report.status_ids],
        "rules": [str(number) for number in report.rule_ids or ()],
        "settled_at": report.action_taken_at,
    }


def _strike(strike: Strike) -> dict[str, Any]:
    appeal = getattr(strike, "appeal", None)
    return {
        "id": str(strike.id),
        "at": strike.created_at,
        "action": strike.action,
        "text": strike.text,
        "statement": strike.statement,
        "posts": [str(number) for number in strike.status_ids or ()],
        "overruled_at": strike.overruled_at,
        "appeal": None if appeal is None else {"text": appeal.text, "state": appeal.state},
    }


def _entries(account: Account, user: User | None) -> list[dict[str, Any]]:
    about = Q(target_type="Account", target_id=account.id)
    if user is not None:
        about |= Q(target_type="User", target_id=user.id)
    entries: Any = AuditEntry.objects.filter(about).order_by("id")
    return list(entries.values("action", "details", at=F("created_at"), by=F("account_name"), target=F("target_type")))
