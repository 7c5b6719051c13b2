"""The URLs of the timelines app."""

from django.urls import path, re_path

from accounts.identity.queries.tokens import SignInState
from accounts.pages.member import member_page
from accounts.pages.settings import settings_page
from social.api.routing import endpoint
from social.pages.views import page
from timelines.pages.conversations import act_on_conversation, conversations, followed_tags
from timelines.pages.explore import explore
from timelines.pages.home import home
from timelines.pages.interactions import intent, interact, share
from timelines.pages.lists import edit_list, list_person, list_posts, lists, remove_list
from timelines.pages.public import act_on_tag, public, tag, tag_feed
from timelines.pages.search import search_page
from timelines.viewsets.discovery import SearchViewSet, TagsViewSet, TrendsViewSet
from timelines.viewsets.reading import ConversationsViewSet, ListsViewSet, MarkersViewSet
from timelines.viewsets.timelines import StreamingRedirectViewSet, TimelinesViewSet

urlpatterns = [
    endpoint("api/v1/timelines/home", TimelinesViewSet, {"get": "home"}),
    endpoint("api/v1/timelines/public", TimelinesViewSet, {"get": "public"}),
    endpoint("api/v1/timelines/tag/<hashtag>", TimelinesViewSet, {"get": "tag"}),
    endpoint("api/v1/conversations", ConversationsViewSet, {"get": "list"}),
    endpoint("api/v1/conversations/<id>", ConversationsViewSet, {"delete": "destroy"}),
    endpoint("api/v1/conversations/<id>/read", ConversationsViewSet, {"post": "read"}),
    endpoint("api/v1/conversations/<id>/unread", ConversationsViewSet, {"post": "unread"}),
    endpoint("api/v1/trends", TrendsViewSet, {"get": "old_tags"}),
    endpoint("api/v1/trends/tags", TrendsViewSet, {"get": "tags"}),
    endpoint("api/v1/trends/statuses", TrendsViewSet, {"get": "statuses"}),
    endpoint("api/v1/trends/links", TrendsViewSet, {"get": "links"}),
    endpoint("api/v2/search", SearchViewSet, {"get": "search"}),
    endpoint("api/v1/timelines/link", TimelinesViewSet, {"get": "link"}),
    endpoint("api/v1/timelines/list/<list_id>", TimelinesViewSet, {"get": "of_list"}),
    endpoint("api/v1/lists", ListsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/lists/<id>", ListsViewSet, {"get": "retrieve", "put": "update", "delete": "destroy"}),
    endpoint("api/v1/lists/<list_id>/accounts", ListsViewSet, {"get": "members", "post": "add", "delete": "remove"}),
    endpoint("api/v1/accounts/<id>/lists", ListsViewSet, {"get": "with_account"}),
    endpoint("api/v1/markers", MarkersViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/tags/<name>", TagsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/tags/<name>/follow", TagsViewSet, {"post": "follow"}),
    endpoint("api/v1/tags/<name>/unfollow", TagsViewSet, {"post": "unfollow"}),
    endpoint("api/v1/tags/<name>/feature", TagsViewSet, {"post": "feature"}),
    endpoint("api/v1/tags/<name>/unfeature", TagsViewSet, {"post": "unfeature"}),
    endpoint("api/v1/followed_tags", TagsViewSet, {"get": "followed"}),
    endpoint("api/v1/streaming", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>/<variant>", StreamingRedirectViewSet, {"get": "redirect"}),
    # Matches a path of any depth, because clients are redirected whatever the path is (SEED-127).
    re_path(r"^api/v1/streaming/.+", StreamingRedirectViewSet.as_view({"get": "redirect"})),
    path("", page(home), name="home"),
    re_path(r"^tags/(?P<name>[^/]+)\.rss$", page(tag_feed), name="tag_feed"),
    re_path(r"^tags/(?P<name>[^/]+)/?$", page(tag), name="tag"),
    path("tags/<name>/act", member_page(act_on_tag), name="act_on_tag"),
    re_path(r"^public(?:/(?P<origin>local|remote))?/?$", page(public), name="public_timeline"),
    re_path(r"^explore(?:/(?P<kind>tags|links|people))?/?$", page(explore), name="explore"),
    path("search", member_page(search_page), name="search"),
    path("conversations", member_page(conversations), name="conversations"),
    path("conversations/<int:id>", member_page(act_on_conversation), name="act_on_conversation"),
    path("followed_tags", member_page(followed_tags), name="followed_tags"),
    path("lists", member_page(lists), name="lists"),
    path("lists/<int:id>", member_page(list_posts), name="list"),
    path("lists/<int:id>/edit", member_page(edit_list), name="edit_list"),
    path("lists/<int:id>/delete", member_page(remove_list), name="delete_list"),
    path("people/<int:id>/lists", member_page(list_person), name="list_person"),
    path("authorize_interaction", settings_page(interact, states=(SignInState.ACTIVE,)), name="interact"),
    path("intent", page(intent)),
    path("share", settings_page(share, states=(SignInState.ACTIVE,)), name="share"),
]
