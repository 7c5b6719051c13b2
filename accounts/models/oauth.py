"""Knows applications, their grants and tokens, in the shape Mastodon clients expect (behaviours section 5)."""

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


class Application(AbstractApplication):
    """A client program. One application may use both the code and the client-credentials grant.

    `redirect_uris` is space separated (as the toolkit wants it), `registered_redirect_uris` keeps the client's own
    list in its order. Secrets are 43 random characters and kept in clear: hashing them with a password hash would
    cost a quarter of a CPU second per token request.
    """

    website = models.TextField(null=True)
    scopes = models.TextField(default="read")
    registered_redirect_uris = models.JSONField(default=list)

    class Meta(AbstractApplication.Meta):
        abstract = False

    def __str__(self) -> str:
        return self.name

    def allows_grant_type(self, *grant_types: str) -> bool:
        """Every application may use the two grants of the contract, and no other."""
        return bool({self.GRANT_AUTHORIZATION_CODE, self.GRANT_CLIENT_CREDENTIALS} & set(grant_types))

    @property
    def scope_list(self) -> list[str]:
        """The scopes the application was registered with."""
        return self.scopes.split()


class AccessToken(AbstractAccessToken):
    """A bearer token. It does not expire; the same application, user and scopes get the same token again."""

    last_used_at = models.DateTimeField(null=True)

    class Meta(AbstractAccessToken.Meta):
        abstract = False
        indexes = [models.Index(fields=["user", "application"], name="accounts_token_user_app")]


class RevokedToken(models.Model):
    """That a token was valid once: who shows it is told so, and does not pass for nobody. Kept for a day."""

    token_checksum = models.CharField(max_length=64, primary_key=True)
    revoked_at = models.DateTimeField(default=clock.now, db_index=True)

    def __str__(self) -> str:
        return self.token_checksum


class Grant(AbstractGrant):
    """An authorization code: ten minutes, one use. A used one is kept with its token: using it again ends the token."""

    access_token = models.ForeignKey(AccessToken, null=True, on_delete=models.CASCADE, related_name="+")

    class Meta(AbstractGrant.Meta):
        abstract = False


class RefreshToken(AbstractRefreshToken):
    """Required by the toolkit; none is ever issued."""

    class Meta(AbstractRefreshToken.Meta):
        abstract = False


class IDToken(AbstractIDToken):
    """Required by the toolkit; none is ever issued."""

    class Meta(AbstractIDToken.Meta):
        abstract = False
