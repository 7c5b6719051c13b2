"""The instance documents and the other documents about this server, over HTTP."""

from collections.abc import Callable
from datetime import date
from typing import Any, Final

import orjson
from django.http import HttpResponse
from django.utils.translation import get_language
from rest_framework.request import Request

from accounts.queries.site_settings import load_site_texts
from moderation.policies.documents import is_for
from moderation.queries import instance
from moderation.serializers import instance as entities
from moderation.viewsets.announcements import require_any_user
from social.api.access import anyone, optional_user
from social.api.declarations import Endpoint
from social.api.responses import render, reply, reply_empty
from social.api.viewsets import ApiViewSet
from social.kernel import translation
from social.kernel.errors import NotFound
from social.kernel.recent import Recent
from social.kernel.text.languages import CODES, LANGUAGE_NAMES

_documents: Final = Recent[bytes]()
_CACHED: Final = {"Cache-Control": "public, max-age=300"}

# Unix time of the release of Mastodon 4.0, in seconds.
_DEPRECATION_4_0 = 1668384000


def _document(name: str, make: Callable[[], Any]) -> HttpResponse:
    """Return the encoded document in the viewer's language, at most a few seconds old."""
    encoded = _documents.get((name, get_language()), lambda: render(make()))
    return reply(orjson.Fragment(encoded), headers=_CACHED)


class InstanceViewSet(ApiViewSet):
    """`/api/v2/instance` and `/api/v1/instance`."""

    endpoints = {
        "retrieve": Endpoint(anyone(), "Instance"),
        "retrieve_v1": Endpoint(anyone(), "InstanceV1", deprecated=_DEPRECATION_4_0),
        "rules": Endpoint(anyone(), "Rule", many=True),
    }

    def retrieve(self, request: Request) -> HttpResponse:
        """Instance (v2)."""
        return _document("v2", lambda: entities.InstanceSerializer(instance.load_instance()).data)

    def retrieve_v1(self, request: Request) -> HttpResponse:
        """V1::Instance."""
        return _document("v1", lambda: entities.InstanceV1Serializer(instance.load_instance()).data)

    def rules(self, request: Request) -> HttpResponse:
        """The rules in force."""
        return _document("rules", lambda: entities.RuleSerializer(list(instance.list_rules()), many=True).data)


class DocumentsViewSet(ApiViewSet):
    """`/api/v1/instance/...`: peers, activity, domain blocks, texts, terms, languages."""

    endpoints = {
        "peers": Endpoint(anyone(), "Text", many=True),
        "search_peers": Endpoint(anyone(), "Peers", input=entities.SearchInput),
        "activity": Endpoint(anyone(), "InstanceActivity", many=True),
        "domain_blocks": Endpoint(optional_user(), "DomainBlock", many=True),
        "extended_description": Endpoint(anyone(), "ExtendedDescription"),
        "privacy_policy": Endpoint(anyone(), "PrivacyPolicy"),
        "terms_of_service": Endpoint(anyone(), "TermsOfService"),
        "terms_of_day": Endpoint(anyone(), "TermsOfService"),
        "translation_languages": Endpoint(anyone(), "TranslationLanguages"),
        "languages": Endpoint(anyone(), "Language", many=True),
        "donation_campaigns": Endpoint(optional_user(), None),
    }

    def peers(self, request: Request) -> HttpResponse:
        """The servers known to this server; 404 without a body if the list is switched off."""
        if not load_site_texts()["site_publish_peers"]:
            return reply_empty(request, status=404)
        return _document("peers", instance.list_peers)

    def search_peers(self, request: Request) -> HttpResponse:
        """Known servers whose names begin with `q`; null without `q` (contract, endpoints)."""
        if not load_site_texts()["site_publish_peers"]:
            return reply_empty(request, status=404)
        prefix = entities.SearchInput.read(request).q
        return reply(instance.search_peers(prefix) if prefix is not None else None, headers=_CACHED)

    def activity(self, request: Request) -> HttpResponse:
        """Figures for twelve weeks, the current week first; 404 without a body if the figures are switched off."""
        if not load_site_texts()["site_publish_activity"]:
            return reply_empty(request, status=404)
        return _document("activity", lambda: entities.ActivitySerializer(instance.list_weeks(), many=True).data)

    def domain_blocks(self, request: Request) -> HttpResponse:
        """The servers that this server limits or suspends; 404 without a body if the viewer may not see them."""
        texts, signed_in = load_site_texts(), self.viewer_id is not None
        if not is_for(texts["site_show_domain_blocks"], signed_in=signed_in):
            return reply_empty(request, status=404)
        rationale = is_for(texts["site_show_domain_blocks_rationale"], signed_in=signed_in)
        public = texts["site_show_domain_blocks"] == "all" and not signed_in
        rules = entities.DomainBlockSerializer(
            instance.list_domain_blocks(), many=True, context={"rationale": rationale}
        )
        return reply(rules.data, headers=_CACHED if public else {})

    def extended_description(self, request: Request) -> HttpResponse:
        """The extended description of this server, written by staff."""
        return _document("description", lambda: entities.DescriptionSerializer(instance.find_description()).data)

    def privacy_policy(self, request: Request) -> HttpResponse:
        """The privacy policy: the text of this server's staff, by default the text that comes with this software."""
        return _document("privacy", lambda: entities.PrivacyPolicySerializer(instance.find_privacy_policy()).data)

    def terms_of_service(self, request: Request) -> HttpResponse:
        """The terms that apply today."""
        return reply(entities.TermsOfServiceSerializer(instance.find_terms()).data, headers=_CACHED)

    def terms_of_day(self, request: Request, date: str) -> HttpResponse:
        """The terms that apply from this date on."""
        return reply(entities.TermsOfServiceSerializer(instance.find_terms(_day(date))).data, headers=_CACHED)

    def translation_languages(self, request: Request) -> HttpResponse:
        """Target languages of translations, by the language of the post (`und`: unknown); empty if posts are not translated."""
        return _document("translations", lambda: translation.load_languages() if translation.is_on() else {})

    def languages(self, request: Request) -> HttpResponse:
        """The languages in which a post can be written."""
        names = [(code, LANGUAGE_NAMES[code]) for code in CODES]
        return _document("languages", lambda: entities.LanguageSerializer(names, many=True).data)

    def donation_campaigns(self, request: Request) -> HttpResponse:
        """The donation campaign to show; this server has none (204). Requires a user's token of any scope."""
        require_any_user(request)
        answer = HttpResponse(status=204)
        del answer.headers["Content-Type"]
        return answer


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise NotFound from None
