"""Knows the pages that say what this server is, who runs it, and what it keeps about people."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from moderation.models import InstanceRule
from moderation.queries.instance import load_instance
from social.kernel.text.plain import plain
from social.pages.frame import show


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """`/about`: name, description, rules and contact, as configured."""
    document = load_instance()
    context: dict[str, Any] = {
        "title": document.texts["site_title"],
        "description": plain(document.texts["site_short_description"]),
        "figures": document.figures,
        "rules": [_in_language(rule, get_language()) for rule in document.rules],
        "contact": document.contact,
        "contact_email": document.texts["site_contact_email"],
        "version": settings.VERSION,
    }
    return show(request, "moderation/about.html", context)


@require_safe
def privacy_policy(request: HttpRequest) -> HttpResponse:
    """`/privacy-policy`: what this software keeps and whom it tells; true of every server that runs it."""
    texts = load_instance().texts
    return show(request, "moderation/privacy_policy.html", {"contact_email": texts["site_contact_email"]})


def _in_language(rule: InstanceRule, language: str | None) -> dict[str, str]:
    translated = rule.translations.get(language) or {}
    return {"text": translated.get("text") or rule.text, "hint": translated.get("hint") or rule.hint}
