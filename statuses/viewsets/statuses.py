"""Posts over HTTP: publishing, reading, deleting, liking and boosting them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.queries.cards import load_cards
from accounts.serializers.presenting import present_cards
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.inputs import ClientBoolean, ClientString, IdListField, Input, StringListField
from social.api.inputs import parameters as parameters_of
from social.api.limits import family, limited
from social.api.pagination import ByCursor, Limit, Page
from social.api.viewsets import ApiViewSet
from social.kernel.cursors import Cursor
from social.kernel.errors import FieldError, Invalid
from social.kernel.ids import parse_id
from statuses.policies.visibility import may_be_listed
from statuses.queries.authors import find_author
from statuses.queries.listings import (
    AccountStatusesFilter,
    list_favourites_of,
    list_reblogs_of,
    load_account_statuses,
)
from statuses.queries.page import Page as StatusesPage
from statuses.queries.page import fill, hydrate
from statuses.queries.statuses import find_own_status, find_post
from statuses.queries.threads import load_context
from statuses.serializers.presenting import (
    present,
    present_acted_on,
    present_by_id,
    present_deleted,
    present_status,
)
from statuses.services.composing import StatusDraft, UnexpectedMentions
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status, reblog_status, unfavourite_status, unreblog_status
from statuses.services.publishing import publish_status

_PEOPLE = ByCursor(Limit(40, 80), prev="since_id")
MANY = 20


class StatusInput(Input[StatusDraft]):
    """The parameters of `POST /api/v1/statuses` (contract, parameters section 3)."""

    draft = StatusDraft
    status = ClientString(source="text")
    spoiler_text = ClientString()
    sensitive = ClientBoolean()
    visibility = ClientString()
    language = ClientString()
    in_reply_to_id = ClientString()
    media_ids = StringListField()
    allowed_mentions = IdListField()


# What cannot be done yet is refused: a post without its poll, or at once instead of tomorrow, would be the wrong post.
_NOT_YET = ("poll", "scheduled_at", "quoted_status_id", "quote_approval_policy")


def _read_draft(request: Request) -> StatusDraft:
    sent = parameters_of(request)
    for name in _NOT_YET:
        if sent.get(name) not in (None, "", [], {}):
            raise Invalid.sentence(_("%(parameter)s is not supported by this server") % {"parameter": name})
    values = {name: value for name, value in sent.items() if name != "visibility" or value != ""}
    if sent.get("sensitive") is False and sent.get("spoiler_text"):
        # In JSON a warning wins over false, in a form the word "false" wins over the warning.
        values["sensitive"] = True
    return StatusInput.read_mapping(values)


@dataclass(frozen=True)
class IdsForm:
    """Posts that are asked for together."""

    ids: tuple[str, ...] = ()


class IdsInput(Input[IdsForm]):
    """`id[]`; a single `id` is no list and dropped."""

    draft = IdsForm
    id = StringListField(source="ids")


@dataclass(frozen=True)
class DeletionForm:
    """The parameters of a deletion."""

    delete_media: bool = False


class DeletionInput(Input[DeletionForm]):
    """Whether the files go at once, or may be used for another post."""

    draft = DeletionForm
    delete_media = ClientBoolean()


class AccountStatusesInput(Input[AccountStatusesFilter]):
    """Which of an account's posts are wanted."""

    draft = AccountStatusesFilter
    only_media = ClientBoolean()
    exclude_replies = ClientBoolean()
    exclude_reblogs = ClientBoolean()
    exclude_direct = ClientBoolean()
    pinned = ClientBoolean()
    tagged = ClientString()


class StatusesViewSet(ApiViewSet):
    """`/api/v1/statuses` and what hangs on a post."""

    endpoints = {
        "create": Endpoint(
            user("write:statuses"), "Status", input=StatusInput, also=_NOT_YET, throttles=family("statuses")
        ),
        "list": Endpoint(optional_user("read:statuses"), "Status", many=True, input=IdsInput),
        "retrieve": Endpoint(optional_user("read:statuses"), "Status"),
        "destroy": Endpoint(
            user("write:statuses"), "DeletedStatus", input=DeletionInput, throttles=limited("deletions")
        ),
        "context": Endpoint(optional_user("read:statuses"), "Context"),
        "favourited_by": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_PEOPLE),
        "reblogged_by": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_PEOPLE),
        "favourite": Endpoint(user("write:favourites"), "Status"),
        "unfavourite": Endpoint(user("write:favourites"), "Status"),
        "reblog": Endpoint(user("write:statuses"), "Status", also=("visibility",), throttles=family("statuses")),
        "unreblog": Endpoint(user("write:statuses"), "Status", throttles=limited("deletions")),
    }

    def create(self, request: Request) -> Any:
        """`POST /api/v1/statuses`: publish; with a repeated `Idempotency-Key` the first post again."""
        try:
            status = publish_status(
                author=find_author(self.account_id),
                draft=_read_draft(request),
                idempotency_key=request.headers.get("Idempotency-Key"),
                application_id=self.identity.application_id,
            )
        except UnexpectedMentions as error:
            cards = load_cards([account.id for account in error.accounts], self.viewer_id)
            raise Invalid(error.message, unexpected_accounts=list(present_cards(cards).values())) from None
        return present_status(status, self.account_id)

    def list(self, request: Request) -> Any:
        """`GET /api/v1/statuses?id[]=`: several posts, newest id first; unreadable ones are left out."""
        asked = set(IdsInput.read(request).ids)
        if len(asked) > MANY:
            raise Invalid.sentence(_("At most %(count)d posts can be read at once") % {"count": MANY})
        ids = {number for number in map(parse_id, asked) if number is not None}
        return present(hydrate(sorted(ids, reverse=True), self.viewer_id, may_be_listed))

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/statuses/:id`."""
        return present_status(id, self.viewer_id)

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/statuses/:id`: the answer has the source text, for another attempt."""
        status = find_own_status(id, self.account_id)
        entity = present_deleted(status, self.account_id)
        delete_status(status_id=status.id, delete_media=DeletionInput.read(request).delete_media)
        return entity

    def context(self, request: Request, id: int) -> Any:
        """`GET /api/v1/statuses/:id/context`: what it answers, and what answers it."""
        context = load_context(find_post(id, self.viewer_id).row, self.viewer_id)
        entities = present_by_id(context.page)
        return {
            "ancestors": [entities[row.id] for row in context.ancestors if row.id in entities],
            "descendants": [entities[row.id] for row in context.descendants if row.id in entities],
        }

    def favourited_by(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/favourited_by`."""
        target = find_post(id, self.viewer_id).row.proper
        favourites = list_favourites_of(target.id, self.viewer_id).only("id", "account_id")
        page = self.paginate(favourites)
        return _respond_with_accounts(page, [favourite.account_id for favourite in page.items], self.viewer_id)

    def reblogged_by(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/reblogged_by`."""
        target = find_post(id, self.viewer_id).row.proper
        reblogs = list_reblogs_of(target.id, self.viewer_id).only("id", "account_id")
        page = self.paginate(reblogs)
        return _respond_with_accounts(page, [reblog.account_id for reblog in page.items], self.viewer_id)

    def favourite(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/favourite`."""
        post = find_post(id, self.account_id)
        if favourite_status(account_id=self.account_id, status=post.row, relations=post.relations):
            return present_acted_on(post.row, self.account_id)
        if post.row.original is not None:
            raise Invalid.of([FieldError("status", "ERR_TAKEN", _("has already been taken"), _("Status"))])
        return present_status(id, self.account_id)

    def unfavourite(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unfavourite`: always allowed to who likes the post."""
        target = unfavourite_status(account_id=self.account_id, status_id=id)
        return present_acted_on(target, self.account_id)

    def reblog(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/reblog`: the boost, with the boosted post in it."""
        post = find_post(id, self.account_id)
        visibility = parameters_of(request).get("visibility")
        reblog_id = reblog_status(
            account=find_author(self.account_id),
            status=post.row,
            relations=post.relations,
            visibility=None if visibility in (None, "") else str(visibility),
        )
        return present_status(reblog_id, self.account_id)

    def unreblog(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unreblog`: the boosted post; always allowed to who has boosted it."""
        target = unreblog_status(account_id=self.account_id, status_id=id)
        return present_acted_on(target, self.account_id)


class AccountStatusesViewSet(ApiViewSet):
    """`/api/v1/accounts/:id/statuses`."""

    endpoints = {
        "list": Endpoint(
            optional_user("read:statuses"),
            "Status",
            many=True,
            input=AccountStatusesInput,
            paging=ByCursor(Limit(20, 40)),
        )
    }

    def list(self, request: Request, id: int) -> HttpResponse:
        """An account's posts as far as the viewer may read them, newest first."""
        wanted = AccountStatusesInput.read(request)
        loaded: list[StatusesPage] = []

        def load(cursor: Cursor) -> Sequence[int]:
            loaded.append(load_account_statuses(id, self.viewer_id, wanted, cursor))
            return loaded[-1].ids

        page = self.paginate(load)
        if not page.items:
            # Only now does it matter whether there is such an account: looking it up costs more than the page.
            find_account(id)
            return page.respond([])
        return page.respond(present(fill(loaded[0])))


def _respond_with_accounts(page: Page[Any], account_ids: Sequence[int], viewer_id: int | None) -> HttpResponse:
    entities = present_cards(load_cards(account_ids, viewer_id))
    return page.respond([entities[number] for number in account_ids if number in entities])
