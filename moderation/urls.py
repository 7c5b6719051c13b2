"""The URLs of the moderation app."""

from django.urls import path

from accounts.pages.member import member_page
from accounts.pages.settings import settings_page
from moderation.blocklists.pages import published_list
from moderation.pages.about import about, privacy_policy, terms, terms_of_day
from moderation.pages.announcements import act_on_announcement, announcements
from moderation.pages.reporting import block, report
from moderation.pages.strikes import strike, strikes
from moderation.viewsets.announcements import AnnouncementsViewSet
from moderation.viewsets.instance import DocumentsViewSet, InstanceViewSet
from moderation.viewsets.reports import ReportsViewSet
from social.api.routing import endpoint
from social.pages.views import page

urlpatterns = [
    endpoint("api/v2/instance", InstanceViewSet, {"get": "retrieve"}),
    endpoint("api/v1/instance", InstanceViewSet, {"get": "retrieve_v1"}),
    endpoint("api/v1/instance/rules", InstanceViewSet, {"get": "rules"}),
    endpoint("api/v1/instance/peers", DocumentsViewSet, {"get": "peers"}),
    endpoint("api/v1/instance/activity", DocumentsViewSet, {"get": "activity"}),
    endpoint("api/v1/instance/domain_blocks", DocumentsViewSet, {"get": "domain_blocks"}),
    endpoint("api/v1/instance/extended_description", DocumentsViewSet, {"get": "extended_description"}),
    endpoint("api/v1/instance/privacy_policy", DocumentsViewSet, {"get": "privacy_policy"}),
    endpoint("api/v1/instance/terms_of_service", DocumentsViewSet, {"get": "terms_of_service"}),
    endpoint("api/v1/instance/terms_of_service/<date>", DocumentsViewSet, {"get": "terms_of_day"}),
    endpoint("api/v1/instance/translation_languages", DocumentsViewSet, {"get": "translation_languages"}),
    endpoint("api/v1/instance/languages", DocumentsViewSet, {"get": "languages"}),
    endpoint("api/v1/peers/search", DocumentsViewSet, {"get": "search_peers"}),
    endpoint("api/v1/donation_campaigns", DocumentsViewSet, {"get": "donation_campaigns"}),
    endpoint("api/v1/announcements", AnnouncementsViewSet, {"get": "list"}),
    endpoint("api/v1/announcements/<id>/dismiss", AnnouncementsViewSet, {"post": "dismiss"}),
    endpoint("api/v1/announcements/<id>/reactions/<name>", AnnouncementsViewSet, {"put": "react", "delete": "unreact"}),
    endpoint("api/v1/reports", ReportsViewSet, {"post": "create"}),
    path("about", page(about), name="about"),
    # The server's instance actor names this URL as its page (contract, federation section 2).
    path("about/more", page(about)),
    path("blocklist.csv", page(published_list), name="published_list"),
    path("terms-of-service", page(terms), name="terms_of_service"),
    path("terms-of-service/<str:day>", page(terms_of_day), name="terms_of_day"),
    path("disputes/strikes", settings_page(strikes), name="strikes"),
    path("disputes/strikes/<int:strike_id>", page(strike), name="strike"),
    path("announcements", member_page(announcements), name="announcements"),
    path("announcements/<int:id>/act", member_page(act_on_announcement), name="act_on_announcement"),
    path("report/<int:account_id>", member_page(report), name="report"),
    path("block/<int:account_id>", member_page(block), name="block"),
    path("privacy-policy", page(privacy_policy), name="privacy_policy"),
]
