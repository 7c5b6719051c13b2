"""HTTP endpoints for posts: publishing, scheduling, reading, deleting, favouriting and boosting them."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.serializers.account import present_accounts
from social.api.access import any_token, anyone, optional_user, user
from social.api.declarations import EMPTY, Endpoint
from social.api.limits import family, limited
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.cursors import Cursor
from social.kernel.errors import FieldError, Invalid
from social.kernel.identity import current_identity
from social.kernel.ids import parse_id
from statuses.models import ScheduledStatus, Status
from statuses.policies.audience import THREAD
from statuses.ports import refresh_thread
from statuses.queries import listings
from statuses.queries.authors import find_author
from statuses.queries.page import PostPage, fill, hydrate
from statuses.queries.posts import load_bodies
from statuses.queries.statuses import find_embeddable_at, find_own_status, find_post, find_post_and_relations
from statuses.queries.threads import incomplete_from, load_context
from statuses.serializers import presenting
from statuses.serializers.card import FRAME_WIDTH, OEmbedSerializer
from statuses.serializers.inputs import statuses
from statuses.serializers.inputs.statuses import OEmbedInput
from statuses.serializers.scheduled_status import ScheduledStatusSerializer
from statuses.serializers.status import ContextSerializer, StatusSourceSerializer, TranslationSerializer
from statuses.services import interactions
from statuses.services.composing import UnexpectedMentions
from statuses.services.deleting import delete_status
from statuses.services.pins import pin_status, unpin_status
from statuses.services.publishing import publish_status
from statuses.services.quotes import change_policies, revoke_quote
from statuses.services.revising import edit_status
from statuses.services.scheduling import cancel_status, reschedule_status, schedule_status
from statuses.services.translating import translate_post
from statuses.viewsets.attachments import TEXT_BODY_LIMIT

#: Seconds after which a client may request the progress of fetching a thread.
_RETRY_SECONDS = 3
_ACCOUNT_PAGES = ByCursor(Limit(40, 80), prev="since_id")
IDS_LIMIT = 20


class StatusesViewSet(ApiViewSet):
    """`/api/v1/statuses` and the endpoints below a post."""

    endpoints = {
        "create": Endpoint(
            user("write:statuses"), "PublishedStatus", input=statuses.StatusInput, throttles=family("statuses")
        ),
        "list": Endpoint(optional_user("read:statuses"), "Status", many=True, input=statuses.IdsInput),
        "retrieve": Endpoint(optional_user("read:statuses"), "Status"),
        "destroy": Endpoint(
            user("write:statuses"), "DeletedStatus", input=statuses.DeletionInput, throttles=limited("deletions")
        ),
        "update": Endpoint(
            user("write:statuses"),
            "Status",
            input=statuses.EditInput,
            throttles=family("statuses"),
            max_body=TEXT_BODY_LIMIT,
        ),
        "history": Endpoint(optional_user("read:statuses"), "StatusEdit", many=True),
        "source": Endpoint(user("read:statuses"), "StatusSource"),
        "translate": Endpoint(
            user("read:statuses"), "Translation", input=statuses.TranslationInput, throttles=limited("translations")
        ),
        "context": Endpoint(optional_user("read:statuses"), "Context"),
        "favourited_by": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_ACCOUNT_PAGES),
        "reblogged_by": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_ACCOUNT_PAGES),
        "favourite": Endpoint(user("write:favourites"), "Status"),
        "unfavourite": Endpoint(user("write:favourites"), "Status"),
        "reblog": Endpoint(user("write:statuses"), "Status", input=statuses.ReblogInput, throttles=family("statuses")),
        "unreblog": Endpoint(user("write:statuses"), "Status", throttles=limited("deletions")),
        "bookmark": Endpoint(user("write:bookmarks"), "Status"),
        "unbookmark": Endpoint(user("write:bookmarks"), "Status"),
        "mute": Endpoint(user("write:mutes"), "Status"),
        "unmute": Endpoint(user("write:mutes"), "Status"),
        "pin": Endpoint(user("write:accounts"), "Status"),
        "unpin": Endpoint(user("write:accounts"), "Status"),
        "quotes": Endpoint(
            any_token("read:statuses"), "Status", many=True, paging=ByCursor(Limit(20, 40), prev="since_id")
        ),
        "revoke": Endpoint(user("write:statuses"), "Status"),
        "interaction_policy": Endpoint(user("write:statuses"), "Status", input=statuses.InteractionPolicyInput),
    }

    def create(self, request: Request) -> Any:
        """`POST /api/v1/statuses`: publish or schedule a post; a repeated `Idempotency-Key` returns the first post."""
        draft = statuses.StatusInput.read(request)
        author = find_author(self.account_id)
        key, application_id = request.headers.get("Idempotency-Key"), self.identity.application_id
        try:
            if draft.scheduled_at is None:
                published: Status | ScheduledStatus = publish_status(
                    author=author, draft=draft, idempotency_key=key, application_id=application_id
                )
            else:
                published = schedule_status(
                    author=author,
                    draft=draft,
                    scheduled_at=draft.scheduled_at,
                    idempotency_key=key,
                    application_id=application_id,
                )
        except UnexpectedMentions as error:
            accounts = present_accounts([account.id for account in error.accounts], self.viewer_id)
            raise Invalid(error.message, unexpected_accounts=list(accounts.values())) from None
        if isinstance(published, ScheduledStatus):
            return ScheduledStatusSerializer(listings.find_scheduled(published.id, self.account_id)).data
        return presenting.present_status(published, self.account_id)

    def list(self, request: Request) -> Any:
        """`GET /api/v1/statuses?id[]=`: several posts, newest id first, without posts that the caller may not read."""
        requested_ids = set(statuses.IdsInput.read(request).id)
        if len(requested_ids) > IDS_LIMIT:
            raise Invalid.sentence(_("At most %(count)d posts can be read at once") % {"count": IDS_LIMIT})
        ids = {number for number in map(parse_id, requested_ids) if number is not None}
        return presenting.present(hydrate(sorted(ids, reverse=True), self.viewer_id, THREAD.shows))

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/statuses/:id`."""
        return presenting.present_status(id, self.viewer_id)

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/statuses/:id`: the response has the source text, so that the post can be written again."""
        status = find_own_status(id, self.account_id)
        entity = presenting.present_deleted(status, self.account_id)
        delete_status(status_id=status.id, delete_media=statuses.DeletionInput.read(request).delete_media)
        return entity

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/statuses/:id`: replaces text, files and poll of the post; values that are left out are cleared."""
        edit_status(author=find_author(self.account_id), status_id=id, draft=statuses.EditInput.read(request))
        return presenting.present_status(id, self.account_id)

    def history(self, request: Request, id: int) -> Any:
        """`GET /api/v1/statuses/:id/history`: all versions, oldest first; a post that was not edited has one version."""
        return presenting.present_history(find_post(id, self.viewer_id).proper, self.viewer_id)

    def source(self, request: Request, id: int) -> Any:
        """`GET /api/v1/statuses/:id/source`: the source text of the post, for editing."""
        post = find_post(id, self.viewer_id).proper
        return StatusSourceSerializer(load_bodies([post.id])[post.id], context={"local": post.local}).data

    def translate(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/translate`: a public or unlisted post in another language."""
        language = statuses.TranslationInput.read(request).lang or get_language() or ""
        found = translate_post(account_id=self.account_id, status_id=id, language=language)
        return TranslationSerializer(found).data

    def context(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/context`: the known ancestors and descendants of the post. For a signed-in viewer, missing
        remote posts of the thread are fetched in the background, which a response header reports.
        """
        post = find_post(id, self.viewer_id)
        context = load_context(post, self.viewer_id)
        entities = presenting.present_by_id(context.page)
        refresh = None
        if self.viewer_id is not None:
            refresh = refresh_thread(incomplete_from(post, context), account_id=self.viewer_id)
        body = ContextSerializer(context, context={"statuses": entities}).data
        return reply(body, headers=refresh.headers(_RETRY_SECONDS) if refresh is not None else {})

    def favourited_by(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/favourited_by`."""
        return self._list_accounts(id, listings.list_favourites_of)

    def reblogged_by(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/reblogged_by`."""
        return self._list_accounts(id, listings.list_reblogs_of)

    def _list_accounts(self, id: int, list_marks: Callable[[int, int | None], QuerySet[Any]]) -> HttpResponse:
        target = find_post(id, self.viewer_id).proper
        page = self.paginate(list_marks(target.id, self.viewer_id).only("id", "account_id"))
        accounts = present_accounts([mark.account_id for mark in page.items], self.viewer_id)
        return page.respond(list(accounts.values()))

    def favourite(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/favourite`."""
        post, relations = find_post_and_relations(id, self.account_id)
        if interactions.favourite_status(account_id=self.account_id, status=post, relations=relations):
            return presenting.present_acted_on(post, self.account_id)
        if post.original is not None and not post.original.interaction_policy:
            raise Invalid.of([FieldError("status", "ERR_TAKEN", _("has already been taken"), _("Status"))])
        return presenting.present_status(id, self.account_id)

    def unfavourite(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unfavourite`: always allowed if the caller has favourited the post."""
        target = interactions.unfavourite_status(account_id=self.account_id, status_id=id)
        return presenting.present_acted_on(target, self.account_id)

    def reblog(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/reblog`: the boost with the boosted post in it; the post itself if its author has to
        approve.
        """
        post, relations = find_post_and_relations(id, self.account_id)
        reblog_id = interactions.reblog_status(
            account=find_author(self.account_id),
            status=post,
            relations=relations,
            visibility=statuses.ReblogInput.read(request).visibility or None,
        )
        return presenting.present_status(reblog_id or post.proper.id, self.account_id)

    def unreblog(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unreblog`: the boosted post; always allowed if the caller has boosted the post."""
        target = interactions.unreblog_status(account_id=self.account_id, status_id=id)
        return presenting.present_acted_on(target, self.account_id)

    def bookmark(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/bookmark`."""
        interactions.bookmark_status(account_id=self.account_id, status=find_post(id, self.account_id))
        return presenting.present_status(id, self.account_id)

    def unbookmark(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unbookmark`: always allowed if the caller has bookmarked the post."""
        target = interactions.unbookmark_status(account_id=self.account_id, status_id=id)
        return presenting.present_acted_on(target, self.account_id)

    def mute(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/mute`: stops notifications about the post's thread."""
        interactions.mute_conversation(account_id=self.account_id, status=find_post(id, self.account_id))
        return presenting.present_status(id, self.account_id)

    def unmute(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unmute`."""
        interactions.unmute_conversation(account_id=self.account_id, status=find_post(id, self.account_id))
        return presenting.present_status(id, self.account_id)

    def pin(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/pin`: pins the caller's own post to the profile."""
        pin_status(account_id=self.account_id, status=find_post(id, self.account_id))
        return presenting.present_status(id, self.account_id)

    def unpin(self, request: Request, id: int) -> Any:
        """`POST /api/v1/statuses/:id/unpin`."""
        unpin_status(account_id=self.account_id, status=find_post(id, self.account_id))
        return presenting.present_status(id, self.account_id)

    def quotes(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/statuses/:id/quotes`: posts that quote the post, the newest quote first.

        Only the quoted author also sees quotes that THREAD hides, such as quotes by accounts that the author blocks or mutes.
        """
        target = find_post(id, self.viewer_id).proper
        page = self.paginate(listings.list_quotes_of(target.id, self.viewer_id).only("id", "status_id"))
        accept = None if target.account_id == self.viewer_id else THREAD.shows
        return page.respond(
            presenting.present(hydrate([quote.status_id for quote in page.items], self.viewer_id, accept))
        )

    def revoke(self, request: Request, id: int, quoting_status_id: int) -> Any:
        """`POST /api/v1/statuses/:id/quotes/:quoting_status_id/revoke`: the quoting post, without the caller's post in it.
        404 if the caller may not read the quoting post (any more), although the quote is revoked.
        """
        status = find_post(id, self.account_id)
        quoting_id = revoke_quote(account_id=self.account_id, status=status, quoting_id=quoting_status_id)
        return presenting.present_status(quoting_id, self.account_id)

    def interaction_policy(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/statuses/:id/interaction_policy`: changes who may interact with the caller's own post."""
        policies = statuses.InteractionPolicyInput.read(request)
        change_policies(
            author=find_author(self.account_id),
            status=find_post(id, self.account_id),
            policy=policies.quote_approval_policy,
            interactions=policies.interaction_policy,
        )
        return presenting.present_status(id, self.account_id)


class AccountStatusesViewSet(ApiViewSet):
    endpoints = {
        "list": Endpoint(
            optional_user("read:statuses"),
            "Status",
            many=True,
            input=statuses.AccountStatusesInput,
            paging=ByCursor(Limit(20, 40)),
        )
    }

    def list(self, request: Request, id: int) -> HttpResponse:
        """List an account's posts that the viewer may read, newest first."""
        post_filter = statuses.AccountStatusesInput.read(request)
        loaded: list[PostPage] = []

        def load(cursor: Cursor) -> Sequence[int]:
            loaded.append(listings.load_account_statuses(id, self.viewer_id, post_filter, cursor))
            return loaded[-1].ids

        page = self.paginate(load)
        if not page.items:
            # The account is looked up only for an empty page, because the lookup costs more than the page.
            find_account(id)
            return page.respond([])
        return page.respond(presenting.present(fill(loaded[0])))


class OwnMarksViewSet(ApiViewSet):
    """`/api/v1/favourites` and `/api/v1/bookmarks`: the posts that the caller has marked, newest mark first."""

    endpoints = {
        "favourites": Endpoint(user("read:favourites"), "Status", many=True, paging=ByCursor(Limit(20, 40))),
        "bookmarks": Endpoint(user("read:bookmarks"), "Status", many=True, paging=ByCursor(Limit(20, 40))),
    }

    def favourites(self, request: Request) -> HttpResponse:
        """`GET /api/v1/favourites`."""
        page = self.paginate(listings.list_favourites(self.account_id).only("id", "status_id"))
        return page.respond(presenting.present_statuses([row.status_id for row in page.items], self.account_id))

    def bookmarks(self, request: Request) -> HttpResponse:
        """`GET /api/v1/bookmarks`."""
        page = self.paginate(listings.list_bookmarks(self.account_id).only("id", "status_id"))
        return page.respond(presenting.present_statuses([row.status_id for row in page.items], self.account_id))


class ScheduledStatusesViewSet(ApiViewSet):
    endpoints = {
        "list": Endpoint(user("read:statuses"), "ScheduledStatus", many=True, paging=ByCursor(Limit(20, 40))),
        "retrieve": Endpoint(user("read:statuses"), "ScheduledStatus"),
        "update": Endpoint(user("write:statuses"), "ScheduledStatus", input=statuses.RescheduleInput),
        "destroy": Endpoint(user("write:statuses"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """`GET /api/v1/scheduled_statuses`: the newest first."""
        page = self.paginate(listings.list_scheduled(self.account_id))
        return page.respond(ScheduledStatusSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/scheduled_statuses/:id`."""
        return ScheduledStatusSerializer(listings.find_scheduled(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/scheduled_statuses/:id`: changes the time; nothing else can be changed."""
        scheduled = listings.find_scheduled(id, self.account_id)
        moment = statuses.RescheduleInput.read(request).scheduled_at
        if moment is not None:
            reschedule_status(scheduled=scheduled, scheduled_at=moment)
        return ScheduledStatusSerializer(scheduled).data

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/scheduled_statuses/:id`."""
        cancel_status(scheduled=listings.find_scheduled(id, self.account_id))
        return {}


class OEmbedViewSet(ApiViewSet):
    endpoints = {"retrieve": Endpoint(anyone(), "OEmbed", input=OEmbedInput)}

    def retrieve(self, request: Request) -> Any:
        """OEmbed of the local post at `url` if it is public or unlisted, else 404."""
        form = OEmbedInput.read(request)
        context = {
            "width": form.maxwidth or FRAME_WIDTH,
            "height": form.maxheight,
            "site_name": current_identity().name,
        }
        return OEmbedSerializer(presenting.present_status(find_embeddable_at(form.url).id, None), context=context).data
