"""Exports the data of an account into one file, for a court or an authority that has asked for it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, Final

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose, QuarantinedFile, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.models import Account, AuditEntry, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
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


@dataclass
class Exported:
    """Contents of an evidence file: the number of posts, and size and SHA-256 of each member by name."""

    posts: int = 0
    members: dict[str, dict[str, Any]] = field(default_factory=dict)


def export_evidence(*, by: Staff, account: Account, reason: str, to: IO[bytes]) -> Exported:
    """Call `begin_export`, then `write_evidence` immediately."""
    begin_export(by=by, account=account, reason=reason)
    return write_evidence(by=by, account=account, reason=reason, to=to)


def begin_export(*, by: Staff, account: Account, reason: str) -> None:
    """Log the export of evidence about an account in the audit log, before anything is written.

    Raises Forbidden without DELETE_USER_DATA or a rank above the person's; Invalid without a reason; Conflict for an
    account that is neither held nor reported.
    """
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    require(by, Permission.DELETE_USER_DATA, over=user.role if user is not None else None)
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


def write_evidence(*, by: Staff, account: Account, reason: str, to: IO[bytes]) -> Exported:
    """Write a zip with profile, addresses, reports with their posts, strikes, the audit log, and the files of the posts,
    each with its SHA-256 in `manifest.json`; `begin_export` comes first.

    All posts of a held account are included; of other accounts only posts that a report or strike names. Each exported post
    that is private or direct is logged as seen. Deleted posts are included as long as their rows exist.
    """
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    account = Account.objects.get(pk=account.pk)
    reports = list(Report.objects.filter(target_account=account).order_by("id"))
    strikes = list(Strike.objects.select_related("appeal").filter(target_account=account).order_by("id"))
    name = f"@{account.acct}"
    exported = Exported()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        writer = _Writer(archive, exported)
        writer.add_json("profile.json", _profile(account, user))
        writer.add_json("addresses.json", _addresses(account, user))
        writer.add_json("reports.json", [_report(report) for report in reports])
        writer.add_json("strikes.json", [_strike(strike) for strike in strikes])
        writer.add_json("audit.json", [_entry(entry) for entry in _entries(account, user)])
        named_ids = {number for row in _named_status_ids(reports, strikes) for number in row}
        files: list[MediaAttachment] = []
        for batch in _post_batches(account, named_ids):
            note_posts_seen(by=by, posts=[(post.id, name, post.visibility) for post in batch])
            texts, media = _posts(batch)
            files += media
            exported.posts += len(batch)
            writer.add_json(f"posts/{batch[0].id}.json", texts)
        writer.add_json("held_posts.json", _held_posts(account) if account.held_at is not None else [])
        writer.add_json("quarantine.json", _quarantined(account))
        for item in files:
            writer.add_files(item)
        for path in (account.avatar, account.header):
            writer.add_stored(f"profile/{path.rpartition('/')[2]}", path)
        manifest = {
            "server": settings.LOCAL_DOMAIN,
            "account": name,
            "exported_at": clock.iso(clock.now()),
            "exported_by": by.name,
            "reason": reason.strip(),
            "held_since": clock.iso_or_none(account.held_at),
            "files": exported.members,
        }
        writer.add_json("manifest.json", manifest)
    return exported


class _Writer:
    """Adds members to the zip, and records their digests."""

    def __init__(self, archive: zipfile.ZipFile, exported: Exported) -> None:
        self._archive = archive
        self._exported = exported

    def add_json(self, name: str, value: Any) -> None:
        data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
        self._archive.writestr(name, data)
        self._exported.members[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def add_stored(self, name: str, path: str) -> None:
        """Add a stored file; a missing file is listed without a digest."""
        if not path or name in self._exported.members:
            return
        digest, size = hashlib.sha256(), 0
        try:
            with (
                storage.opened(path) as file,
                self._archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member,
            ):
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    member.write(chunk)
        except FileNotFoundError:
            self._exported.members[name] = {"missing": True}
            return
        self._exported.members[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def add_files(self, media: MediaAttachment) -> None:
        """Add the stored file of an attachment: the original of a local post, or the copy of a remote file."""
        path = media.file or media.source
        if not path and media.remote_url:
            copy = RemoteCopy.objects.filter(digest=digest_of(CopyPurpose.ATTACHMENT, media.remote_url)).first()
            path = copy.file if copy is not None else ""
        self.add_stored(f"media/{media.id}.{path.rpartition('.')[2]}", path)


def _named_status_ids(reports: Iterable[Report], strikes: Iterable[Strike]) -> Iterator[list[int]]:
    for report in reports:
        yield report.status_ids
    for strike in strikes:
        yield strike.status_ids or []


def _post_batches(account: Account, named_ids: set[int]) -> Iterator[list[Status]]:
    """Return the posts to export, including deleted posts, in batches, oldest first."""
    rows = Status.objects.filter(account=account, reblog_of=None).order_by("id")
    if account.held_at is None:
        for batch in in_batches(sorted(named_ids), BATCH_SIZE):
            found = list(rows.filter(id__one_of=batch))
            if found:
                yield found
        return
    after = 0
    while found := list(rows.filter(id__gt=after)[:BATCH_SIZE]):
        yield found
        after = found[-1].id


def _posts(batch: list[Status]) -> tuple[list[dict[str, Any]], list[MediaAttachment]]:
    """Return the texts of the posts with their edits and mentions, and their files; four queries."""
    ids = [post.id for post in batch]
    edits: dict[int, list[dict[str, Any]]] = {}
    for edit in StatusEdit.objects.filter(status_id__one_of=ids).order_by("created_at", "id"):
        edits.setdefault(edit.status_id, []).append({"at": clock.iso(edit.created_at), **_text_values(edit)})
    addressed: dict[int, list[str]] = {}
    for mention in Mention.objects.select_related("account").filter(status_id__one_of=ids).order_by("id"):
        addressed.setdefault(mention.status_id, []).append(mention.account.acct)
    found = MediaAttachment.objects.filter(Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids))
    media = list(found.order_by("id"))
    texts = [
        {
            "id": str(post.id),
            "uri": post.uri,
            "url": post.url,
            "written_at": clock.iso(post.created_at),
            "edited_at": clock.iso_or_none(post.edited_at),
            "deleted_at": clock.iso_or_none(post.deleted_at),
            "visibility": post.visibility,
            **_text_values(post),
            "html": post.content,
            "addressed": addressed.get(post.id, []),
            "earlier": edits.get(post.id, []),
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
    rows = HeldPost.objects.filter(account=account).order_by("id")
    return [
        {
            "id": str(held_post.id),
            "written_at": clock.iso(held_post.written_at),
            "rule": held_post.rule_name,
            "text": held_post.excerpt,
        }
        for held_post in rows
    ]


def _quarantined(account: Account) -> list[dict[str, Any]]:
    """Return the metadata of the account's files that the scanner or a hash list refused, without their bytes."""
    rows = QuarantinedFile.objects.filter(account=account).order_by("id")
    return [
        {
            "sha256": file.sha256,
            "at": clock.iso(file.created_at),
            "reason": file.reason,
            "list": file.list_name,
            "distance": file.distance,
            "decision": file.decision,
        }
        for file in rows
    ]


def _profile(account: Account, user: User | None) -> dict[str, Any]:
    # The whole row is exported: no column is secret.
    columns: dict[str, Any] = {
        column.attname: getattr(account, column.attname) for column in Account._meta.concrete_fields
    }
    columns = {name: clock.iso(value) if isinstance(value, datetime) else value for name, value in columns.items()}
    columns["id"] = str(account.id)
    if user is not None:
        columns |= {
            "role": user.role.name,
            "locale": user.locale,
            "signed_up_at": clock.iso(user.created_at),
            "sign_up_reason": user.sign_up_reason,
            "active_at": clock.iso_or_none(user.active_at),
            "disabled_at": clock.iso_or_none(user.disabled_at),
        }
    return columns


def _addresses(account: Account, user: User | None) -> dict[str, Any]:
    """Return the e-mail and IP addresses that are stored."""
    if user is None:
        return {"domain": account.domain}
    return {
        "email": user.email,
        "emails": list(EmailAddress.objects.filter(user=user).order_by("id").values("email", "verified", "primary")),
        "identities": [
            {"issuer": identity.provider, "subject": identity.uid, "since": clock.iso(identity.date_joined)}
            for identity in SocialAccount.objects.filter(user=user).order_by("id")
        ],
        "sign_up_address": user.sign_up_ip,
        "sessions": [
            {
                "address": session.ip,
                "browser": session.user_agent,
                "since": clock.iso(session.created_at),
                "last_seen_at": clock.iso(session.last_seen_at),
            }
            for session in UserSession.objects.filter(user=user).order_by("id")
        ],
        "rules_met": [
            {"rule": match.rule.name, "at": clock.iso(match.created_at), "outcome": match.outcome}
            for match in SpamRuleMatch.objects.select_related("rule").filter(account=account).order_by("id")[:1000]
        ],
    }


def _report(report: Report) -> dict[str, Any]:
    """Return a report without its reporter, who is not part of the evidence."""
    return {
        "id": str(report.id),
        "at": clock.iso(report.created_at),
        "category": report.category,
        "comment": report.comment,
        "posts": [str(number) for number in report.status_ids],
        "rules": [str(number) for number in report.rule_ids or ()],
        "settled_at": clock.iso_or_none(report.action_taken_at),
    }


def _strike(strike: Strike) -> dict[str, Any]:
    appeal = getattr(strike, "appeal", None)
    return {
        "id": str(strike.id),
        "at": clock.iso(strike.created_at),
        "action": strike.action,
        "text": strike.text,
        "statement": strike.statement,
        "posts": [str(number) for number in strike.status_ids or ()],
        "overruled_at": clock.iso_or_none(strike.overruled_at),
        "appeal": None if appeal is None else {"text": appeal.text, "state": appeal.state},
    }


def _entries(account: Account, user: User | None) -> Iterable[AuditEntry]:
    about = Q(target_type="Account", target_id=account.id)
    if user is not None:
        about |= Q(target_type="User", target_id=user.id)
    return AuditEntry.objects.filter(about).order_by("id").iterator(chunk_size=BATCH_SIZE)


def _entry(entry: AuditEntry) -> dict[str, Any]:
    return {
        "at": clock.iso(entry.created_at),
        "by": entry.account_name,
        "action": entry.action,
        "target": entry.target_type,
        "details": entry.details,
    }
