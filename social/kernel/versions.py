"""Versions that this server states to clients and other servers (docs/architecture.md "Versions")."""

from typing import Final

from social import __version__

#: Version of Mastodon whose API this server offers.
UPSTREAM_VERSION: Final = "4.6.5"
#: Clients derive capabilities from the version, some by the rules of Semantic Versioning.
CLIENT_VERSION: Final = f"{UPSTREAM_VERSION}+social.{__version__}"
#: Mastodon's count of changes to its API, for clients that check this number instead of the version.
API_VERSION: Final = 11
