"""URLs of `make dev`: the URLs of the server and of the debug toolbar."""

from debug_toolbar.toolbar import debug_toolbar_urls

from social.urls import *  # noqa: F403  # paths upon paths
from social.urls import urlpatterns

urlpatterns = [*debug_toolbar_urls(), *urlpatterns]
