"""Pages about this server: its description and contact, its rules and terms, and the personal data that it stores."""

from datetime import date
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from moderation.models import InstanceRule
from moderation.policies.documents import is_for
from moderation.queries.instance import find_description, find_privacy_policy, find_terms, have_terms, load_instance
from social.kernel.errors import NotFound
from social.kernel.text.markdown import markdown_to_html
from social.kernel.text.markup import plain
from social.pages.frame import allow_caching, sharing_of_site, show
from social.pages.text import with_headings_below
from timelines.pages.public import public_url


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """`/about`: name, description, rules and contact, as configured."""
    document = load_instance()
    blocks_are_public = is_for(document.texts["site_show_domain_blocks"], signed_in=False)
    context: dict[str, Any] = {
        "title": document.texts["site_title"],
        "description": plain(document.texts["site_short_description"]),
        "figures": document.figures,
        "rules": [_in_language(rule, get_language()) for rule in document.rules],
        "contact": document.contact,
        "contact_email": document.texts["site_contact_email"],
        "extended": _html(find_description().markdown),
        "terms": have_terms(),
        "posts_url": public_url("local"),
        "blocks_url": reverse("published_list") if blocks_are_public else "",
        "version": settings.VERSION,
    }
    title, description = context["title"], context["description"]
    context["sharing"] = sharing_of_site(reverse("about"), title=title, description=description)
    return allow_caching(show(request, "moderation/about.html", context))


@require_safe
def privacy_policy(request: HttpRequest) -> HttpResponse:
    """`/privacy-policy`: which personal data this server stores, and who receives them."""
    policy = find_privacy_policy()
    context = {
        "written": _html(policy.markdown),
        "updated_at": policy.updated_at,
        "contact_email": policy.contact_email,
    }
    return allow_caching(show(request, "moderation/privacy_policy.html", context))


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    """`/terms-of-service`: the version that applies today. Raises NotFound if there is none."""
    return _terms(request, None)


@require_safe
def terms_of_day(request: HttpRequest, day: str) -> HttpResponse:
    """`/terms-of-service/:date`: the version that applies from this date on. Raises NotFound."""
    try:
        effective_date = date.fromisoformat(day)
    except ValueError:
        raise NotFound from None
    return _terms(request, effective_date)


def _terms(request: HttpRequest, day: date | None) -> HttpResponse:
    version = find_terms(day)
    context = {
        "terms": version.terms,
        "effective": version.effective,
        "succeeded_by": version.succeeded_by,
        "changelog": _html(version.terms.changelog),
        "text": _html(version.terms.text),
    }
    return allow_caching(show(request, "moderation/terms_of_service.html", context))


def _html(markdown: str) -> SafeString:
    return with_headings_below(mark_safe(markdown_to_html(markdown, below=1)))  # noqa: S308 (safe HTML is what it makes)


def _in_language(rule: InstanceRule, language: str | None) -> dict[str, str]:
    translated = rule.translations.get(language) or {}
    return {"text": translated.get("text") or rule.text, "hint": translated.get("hint") or rule.hint}
