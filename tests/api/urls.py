"""The addresses of the sample API, behind the same router as the real one."""

from __future__ import annotations

from social.api.routing import ApiRouter

urlpatterns = [ApiRouter("tests.api.sample_urls")]
handler404 = "social.api.pages.not_found"
handler500 = "social.api.pages.server_error"
handler403 = "social.api.pages.forbidden"
handler400 = "social.api.pages.bad_request"
