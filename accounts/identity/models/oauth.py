"""Applications, their grants and tokens, in the shape Mastodon clients expect (behaviours section 5)."""

from __future__ import annotations

from django.db import models
from oauth2_provider.models import (
    AbstractAccessToken,
    AbstractApplication,
    AbstractGrant,
    AbstractIDToken,
    AbstractRefreshToken,
)

from social.kernel import clock
from social.kernel.lengths import MESSAGE_LIMIT, OBJECT_LIMIT, URI_LIMIT, lengths


class Application(AbstractApplication):
    """A client program.

    Secrets are 43 random characters, stored in plain text: a hash would cost a quarter of a CPU second per request.
    """

    website = models.TextField(null=True)
    scopes = models.TextField(default="read")

    class Meta(AbstractApplication.Meta):
        abstract = False
        constraints = [
            lengths(
                "accounts_application_lengths",
                redirect_uris=10_000,
                post_logout_redirect_uris=10_000,
                allowed_origins=10_000,
                website=URI_LIMIT,
                scopes=MESSAGE_LIMIT,
            )
        ]

    def __str__(self) -> str:
        return self.name

    def allows_grant_type(self, *grant_types: str) -> bool:
        """Tell whether one of these grant types is allowed; client credentials require a client with a secret."""
        allowed = {self.GRANT_AUTHORIZATION_CODE}
        if self.client_type == self.CLIENT_CONFIDENTIAL:
            allowed.add(self.GRANT_CLIENT_CREDENTIALS)
        return not allowed.isdisjoint(grant_types)

    @property
    def registered_redirect_uris(self) -> list[str]:
        """The redirect URIs in the order of registration; none of them contains white space."""
        return self.redirect_uris.split()

    @property
    def scope_list(self) -> list[str]:
        """The scopes the application was registered with."""
        return self.scopes.split()


class AccessToken(AbstractAccessToken):
    """A bearer token. It does not expire; the same application, user and scopes get the same token again."""

    # Precise to a day (accounts.identity.services.tokens).
    last_used_at = models.DateTimeField(null=True, default=clock.now)

    class Meta(AbstractAccessToken.Meta):
        abstract = False
        constraints = [
            lengths("accounts_accesstoken_lengths", token=MESSAGE_LIMIT, scope=MESSAGE_LIMIT, resource=OBJECT_LIMIT)
        ]
        indexes = [models.Index(fields=["user", "application"], name="accounts_token_user_app")]


class RevokedToken(models.Model):
    """Token that was revoked in the last day. Requests with it get the error for revoked tokens instead of counting as
    anonymous.
    """

    token_checksum = models.CharField(max_length=64, primary_key=True)
    revoked_at = models.DateTimeField(default=clock.now, db_index=True)


class Grant(AbstractGrant):
    """Authorization code, valid for ten minutes and one use. It is stored with its token, which a second use revokes."""

    access_token = models.ForeignKey(AccessToken, null=True, on_delete=models.CASCADE, related_name="+")

    class Meta(AbstractGrant.Meta):
        abstract = False
        constraints = [
            lengths(
                "accounts_grant_lengths",
                redirect_uri=10_000,
                scope=MESSAGE_LIMIT,
                claims=OBJECT_LIMIT,
                resource=OBJECT_LIMIT,
            )
        ]


class RefreshToken(AbstractRefreshToken):
    """Model required by the toolkit; no refresh token is ever issued."""

    class Meta(AbstractRefreshToken.Meta):
        abstract = False
        constraints = [lengths("accounts_refreshtoken_lengths", token=MESSAGE_LIMIT, resource=OBJECT_LIMIT)]


class IDToken(AbstractIDToken):
    """Model required by the toolkit; no ID token is ever issued."""

    class Meta(AbstractIDToken.Meta):
        abstract = False
        constraints = [lengths("accounts_idtoken_lengths", scope=MESSAGE_LIMIT)]
