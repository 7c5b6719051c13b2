"""The URLs of the sample API, built by the same router as the URLs of the real API."""

from social.api.routing import api_urls, other_urls

urlpatterns = [*api_urls("tests.api.sample_urls"), *other_urls("tests.api.sample_urls")]
handler404 = "social.pages.errors.not_found"
handler500 = "social.pages.errors.server_error"
handler403 = "social.pages.errors.forbidden"
handler400 = "social.pages.errors.bad_request"
