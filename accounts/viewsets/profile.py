"""One's own account and profile over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.policies.relations import Relations
from accounts.queries.emojis import EmojiLookup
from accounts.queries.featured_tags import list_featured_tags
from accounts.queries.users import find_user, find_user_with_requests
from accounts.serializers.account import CredentialAccountSerializer
from accounts.serializers.profile import profile_entity
from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload, delete_picture
from accounts.services.profiles import ProfileChange, update_profile
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.inputs import (
    ClientBoolean,
    ClientFile,
    ClientString,
    Input,
    NestedListField,
    StringListField,
    parameters,
)
from social.api.parsers import MEBIBYTE
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.text.scan import clean_input

# Two pictures in base64, escaped for a form, and a little more: what is larger still is refused unread (413).
MAX_BODY: Final = 2 * 2 * PICTURE_SIZE_LIMIT + MEBIBYTE
_SOURCE: Final = ("privacy", "sensitive", "language", "quote_policy")


class FieldForm(NamedTuple):
    """One row of the table of a profile."""

    name: str = ""
    value: str = ""


class FieldInput(Input[FieldForm]):
    """A row as clients send it."""

    draft = FieldForm
    name = ClientString()
    value = ClientString()


class _SharedInput(Input[ProfileChange]):
    """What both forms of the endpoint take. Pictures are read apart."""

    draft = ProfileChange
    display_name = ClientString()
    note = ClientString()
    locked = ClientBoolean()
    bot = ClientBoolean()
    discoverable = ClientBoolean()
    hide_collections = ClientBoolean()
    indexable = ClientBoolean()
    avatar = ClientFile()
    header = ClientFile()
    avatar_description = ClientString()
    header_description = ClientString()
    fields_attributes = NestedListField(FieldInput, source="fields")
    attribution_domains = StringListField()


class ProfileInput(_SharedInput):
    """The parameters of `PATCH /api/v1/profile`."""

    show_media = ClientBoolean()
    show_media_replies = ClientBoolean()
    show_featured = ClientBoolean()


class CredentialsInput(_SharedInput):
    """The parameters of `PATCH /api/v1/accounts/update_credentials`, with those inside `source`."""

    privacy = ClientString()
    sensitive = ClientBoolean()
    language = ClientString()
    quote_policy = ClientString()


def _profile_change(kind: type[Input[ProfileChange]], sent: dict[str, Any]) -> ProfileChange:
    """The change a client asks for."""
    values = dict(sent)
    for name in ("display_name", "note"):
        if isinstance(values.get(name), str):
            values[name] = clean_input(values[name])
    unsaid = tuple(name for name in ("discoverable", "hide_collections") if sent.get(name, True) in (None, ""))
    change = kind.read_mapping(values)
    fields = change.fields
    if fields is not None:
        fields = tuple((clean_input(name), clean_input(value)) for name, value in fields)
    avatar, header = _upload(change.avatar), _upload(change.header)
    return replace(change, unsaid=unsaid, fields=fields, avatar=avatar, header=header)


def _upload(file: Any) -> PictureUpload | None:
    if not isinstance(file, UploadedFile):
        return None
    # One byte beyond the limit tells as much as all of them.
    return PictureUpload(file.read(PICTURE_SIZE_LIMIT + 1), file.content_type or "")


class ProfileViewSet(ApiViewSet):
    """`/api/v1/profile`, and the same in the older form: `verify_credentials` and `update_credentials`."""

    endpoints = {
        "verify_credentials": Endpoint(user("read:accounts", "profile"), "CredentialAccount"),
        "update_credentials": Endpoint(
            user("write:accounts"), "CredentialAccount", input=CredentialsInput, also=("source",), max_body=MAX_BODY
        ),
        "retrieve": Endpoint(user("read:accounts", "profile"), "Profile"),
        "update": Endpoint(user("write:accounts"), "Profile", input=ProfileInput, max_body=MAX_BODY),
        **dict.fromkeys(("delete_avatar", "delete_header"), Endpoint(user("write:accounts"), "CredentialAccount")),
    }

    def verify_credentials(self, request: Request) -> HttpResponse:
        """One's own account."""
        return self._account()

    def update_credentials(self, request: Request) -> HttpResponse:
        """Change one's profile and settings. An empty `source` is no error (SEED-133)."""
        sent = parameters(request)
        source = sent.get("source")
        values = {name: value for name, value in sent.items() if name not in _SOURCE}
        if isinstance(source, dict):
            values |= {name: source[name] for name in _SOURCE if name in source}
        self._change(CredentialsInput, values)
        return self._account()

    def retrieve(self, request: Request) -> HttpResponse:
        """One's own profile, as it is edited."""
        return self._profile()

    def update(self, request: Request) -> HttpResponse:
        """Change one's profile."""
        self._change(ProfileInput, parameters(request))
        return self._profile()

    def delete_avatar(self, request: Request) -> HttpResponse:
        """Go back to the default avatar."""
        delete_picture(account_id=self.account_id, name="avatar")
        return self._account()

    def delete_header(self, request: Request) -> HttpResponse:
        """Go back to the default header."""
        delete_picture(account_id=self.account_id, name="header")
        return self._account()

    def _change(self, kind: type[Input[ProfileChange]], sent: dict[str, Any]) -> None:
        update_profile(user=find_user(self.identity.user_id), change=_profile_change(kind, sent))

    def _account(self) -> HttpResponse:
        me, waiting = find_user_with_requests(self.identity.user_id)
        context = {
            "emojis": EmojiLookup.for_accounts([me.account]),
            "relations": Relations(viewer_id=me.account_id),
            "user": me,
            "follow_requests_count": waiting,
        }
        return reply(CredentialAccountSerializer(me.account, context=context).data)

    def _profile(self) -> HttpResponse:
        me = find_user(self.identity.user_id).account
        return reply(profile_entity(me, list_featured_tags(me)))
