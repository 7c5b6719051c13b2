"""The URLs of the statuses app."""

from django.urls import path, re_path

from accounts.identity.queries.tokens import SignInState
from accounts.pages.member import member_page
from accounts.pages.settings import settings_page
from social.api.routing import endpoint
from social.pages.views import page
from statuses.pages.acts import act
from statuses.pages.filters import edit_filter, filter_post, filter_posts, filters, new_filter, remove_filter
from statuses.pages.policies import policies, retention
from statuses.pages.posts import embed, tagged
from statuses.pages.requests import interaction_requests
from statuses.pages.scheduled import change_scheduled, drafts, scheduled
from statuses.pages.threads import bookmarks, favourites, numbered, people, translation
from statuses.pages.writing import WRITING_MAX_BODY, delete, edit, write
from statuses.viewsets.attachments import AttachmentsViewSet, MediaViewSet, PollsViewSet
from statuses.viewsets.drafts import DraftsViewSet
from statuses.viewsets.featured_tags import FeaturedTagsViewSet
from statuses.viewsets.filters import FilterKeywordsViewSet, FilterStatusesViewSet, FiltersV1ViewSet, FiltersViewSet
from statuses.viewsets.policies import DefaultPoliciesViewSet, InteractionRequestsViewSet
from statuses.viewsets.statuses import (
    AccountStatusesViewSet,
    OEmbedViewSet,
    OwnMarksViewSet,
    ScheduledStatusesViewSet,
    StatusesViewSet,
)

STATUS = "api/v1/statuses/<id>"
CHANGEABLE = {"get": "retrieve", "put": "update", "delete": "destroy"}
urlpatterns = [
    endpoint("api/v1/statuses", StatusesViewSet, {"get": "list", "post": "create"}),
    endpoint(STATUS, StatusesViewSet, CHANGEABLE),
    endpoint(f"{STATUS}/history", StatusesViewSet, {"get": "history"}),
    endpoint(f"{STATUS}/source", StatusesViewSet, {"get": "source"}),
    endpoint(f"{STATUS}/translate", StatusesViewSet, {"post": "translate"}),
    endpoint(f"{STATUS}/context", StatusesViewSet, {"get": "context"}),
    endpoint(f"{STATUS}/favourited_by", StatusesViewSet, {"get": "favourited_by"}),
    endpoint(f"{STATUS}/reblogged_by", StatusesViewSet, {"get": "reblogged_by"}),
    *(
        endpoint(f"{STATUS}/{name}", StatusesViewSet, {"post": name})
        for mark in ("favourite", "reblog", "bookmark", "mute", "pin")
        for name in (mark, f"un{mark}")
    ),
    endpoint(f"{STATUS}/quotes", StatusesViewSet, {"get": "quotes"}),
    endpoint(f"{STATUS}/quotes/<quoting_status_id>/revoke", StatusesViewSet, {"post": "revoke"}),
    endpoint(f"{STATUS}/interaction_policy", StatusesViewSet, {"put": "interaction_policy"}),
    endpoint("api/v1/interaction_policies/defaults", DefaultPoliciesViewSet, {"get": "retrieve", "put": "update"}),
    endpoint("api/v1/interaction_requests", InteractionRequestsViewSet, {"get": "list"}),
    endpoint("api/v1/interaction_requests/<id>", InteractionRequestsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/interaction_requests/<id>/authorize", InteractionRequestsViewSet, {"post": "authorize"}),
    endpoint("api/v1/interaction_requests/<id>/reject", InteractionRequestsViewSet, {"post": "reject"}),
    endpoint("api/v1/favourites", OwnMarksViewSet, {"get": "favourites"}),
    endpoint("api/v1/bookmarks", OwnMarksViewSet, {"get": "bookmarks"}),
    endpoint("api/v1/scheduled_statuses", ScheduledStatusesViewSet, {"get": "list"}),
    endpoint("api/v1/scheduled_statuses/<id>", ScheduledStatusesViewSet, CHANGEABLE),
    endpoint("api/v1/drafts", DraftsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/drafts/<id>", DraftsViewSet, CHANGEABLE),
    endpoint("api/v1/drafts/<id>/publish", DraftsViewSet, {"post": "publish"}),
    endpoint("api/v1/polls/<id>", PollsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/polls/<id>/votes", PollsViewSet, {"post": "vote"}),
    endpoint("api/v2/filters", FiltersViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v2/filters/<id>", FiltersViewSet, CHANGEABLE),
    endpoint("api/v2/filters/<filter_id>/keywords", FiltersViewSet, {"get": "keywords", "post": "add_keyword"}),
    endpoint("api/v2/filters/<filter_id>/statuses", FiltersViewSet, {"get": "statuses", "post": "add_status"}),
    endpoint("api/v2/filters/keywords/<id>", FilterKeywordsViewSet, CHANGEABLE),
    endpoint("api/v2/filters/statuses/<id>", FilterStatusesViewSet, {"get": "retrieve", "delete": "destroy"}),
    endpoint("api/v1/filters", FiltersV1ViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/filters/<id>", FiltersV1ViewSet, CHANGEABLE),
    endpoint("api/v1/accounts/<id>/statuses", AccountStatusesViewSet, {"get": "list"}),
    endpoint("api/v1/featured_tags", FeaturedTagsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/featured_tags/suggestions", FeaturedTagsViewSet, {"get": "suggestions"}),
    endpoint("api/v1/featured_tags/<id>", FeaturedTagsViewSet, {"delete": "destroy"}),
    endpoint("api/v1/accounts/<id>/featured_tags", FeaturedTagsViewSet, {"get": "of_account"}),
    re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/tagged/(?P<name>[^/]+)/?$", page(tagged), name="tagged"),
    endpoint("api/oembed", OEmbedViewSet, {"get": "retrieve"}),
    re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/(?P<id>[0-9]{1,19})/embed/?$", page(embed), name="embed"),
    re_path(r"^users/(?P<username>[A-Za-z0-9_.-]+)/statuses/(?P<id>[0-9]{1,19})/embed/?$", page(embed)),
    path("interaction_requests", member_page(interaction_requests), name="interaction_requests"),
    path("bookmarks", member_page(bookmarks), name="bookmarks"),
    path("favourites", member_page(favourites), name="favourites"),
    path("write", member_page(write, max_body=WRITING_MAX_BODY), name="write"),
    path("statuses/<int:id>/edit", member_page(edit, max_body=WRITING_MAX_BODY), name="edit_post"),
    path("statuses/<int:id>/act", member_page(act), name="act_on_post"),
    re_path(r"^statuses/(?P<id>[0-9]{1,19})/(?P<kind>boosts|favourites)$", member_page(people), name="post_people"),
    re_path(r"^statuses/(?P<id>[0-9]{1,19})/?$", page(numbered)),
    path("statuses/<int:id>/translation", member_page(translation), name="translate_post"),
    path("statuses/<int:id>/filter", member_page(filter_post), name="filter_post"),
    path("filters", member_page(filters), name="filters"),
    path("filters/new", member_page(new_filter), name="new_filter"),
    path("filters/<int:id>", member_page(edit_filter), name="edit_filter"),
    path("filters/<int:id>/posts", member_page(filter_posts), name="filter_posts"),
    path("filters/<int:id>/delete", member_page(remove_filter), name="delete_filter"),
    path("scheduled", member_page(scheduled), name="scheduled"),
    path("drafts", member_page(drafts), name="drafts"),
    path("scheduled/<int:id>", member_page(change_scheduled), name="change_scheduled"),
    path("statuses/<int:id>/delete", member_page(delete), name="delete_post"),
    path("settings/replies", settings_page(policies, states=(SignInState.ACTIVE,)), name="settings_replies"),
    path("settings/old_posts", settings_page(retention, states=(SignInState.ACTIVE,)), name="settings_old_posts"),
    endpoint("media_proxy/<id>/<style>", AttachmentsViewSet, {"get": "proxy"}),
    endpoint("media/<id>", AttachmentsViewSet, {"get": "show_file"}),
    endpoint("api/v1/media", MediaViewSet, {"post": "create_v1"}),
    endpoint("api/v2/media", MediaViewSet, {"post": "create"}),
    endpoint("api/v1/media/<id>", MediaViewSet, CHANGEABLE),
]
