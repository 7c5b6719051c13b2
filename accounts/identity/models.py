"""Applications, their grants and tokens (behaviours section 5), and blocks of sign-ups."""

import ipaddress

from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from oauth2_provider import models as toolkit

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class Application(toolkit.AbstractApplication):
    """Client program. Its secret is stored in plain text, because checking a hash would take 250 ms of CPU time."""

    website = models.TextField(null=True)
    scopes = models.TextField(default="read")

    class Meta(toolkit.AbstractApplication.Meta):
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
        return self.scopes.split()


class AccessToken(toolkit.AbstractAccessToken):
    """A bearer token. Tokens do not expire; the same application gets the same token again for the same user and scopes."""

    # The time is precise to a day (accounts.identity.services.tokens).
    last_used_at = models.DateTimeField(null=True, default=clock.now)

    class Meta(toolkit.AbstractAccessToken.Meta):
        abstract = False
        constraints = [
            lengths("accounts_accesstoken_lengths", token=MESSAGE_LIMIT, scope=MESSAGE_LIMIT, resource=OBJECT_LIMIT)
        ]
        indexes = [models.Index(fields=["user", "application"], name="accounts_token_user_app")]


class RevokedToken(models.Model):
    """Token that was revoked in the last day. Requests with the token get an error instead of being treated as anonymous."""

    token_checksum = models.CharField(max_length=64, primary_key=True)
    revoked_at = models.DateTimeField(default=clock.now, db_index=True)


class Grant(toolkit.AbstractGrant):
    """Authorization code, valid for ten minutes. A second use of the code revokes the token that was issued for it."""

    access_token = models.ForeignKey(AccessToken, null=True, on_delete=models.CASCADE, related_name="+")

    class Meta(toolkit.AbstractGrant.Meta):
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


class RefreshToken(toolkit.AbstractRefreshToken):
    """Model required by the toolkit; no refresh token is ever issued."""

    class Meta(toolkit.AbstractRefreshToken.Meta):
        abstract = False
        constraints = [lengths("accounts_refreshtoken_lengths", token=MESSAGE_LIMIT, resource=OBJECT_LIMIT)]


class IDToken(toolkit.AbstractIDToken):
    """Model required by the toolkit; no ID token is ever issued."""

    class Meta(toolkit.AbstractIDToken.Meta):
        abstract = False
        constraints = [lengths("accounts_idtoken_lengths", scope=MESSAGE_LIMIT)]


BLOCK_COMMENT_LIMIT = 10_000


class Severity(models.TextChoices):
    """Severities of a network block, the mildest first (contract, entities "Admin::IpBlock")."""

    SIGN_UP_REQUIRES_APPROVAL = "sign_up_requires_approval", _("sign up only with approval")
    SIGN_UP_BLOCK = "sign_up_block", _("cannot sign up")
    NO_ACCESS = "no_access", _("get no answer at all")


class EmailDomainBlock(models.Model):
    """Blocked e-mail domain, in lower-case Punycode; its subdomains are also blocked."""

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    allow_with_approval = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("blocked e-mail domain")
        verbose_name_plural = _("blocked e-mail domains")
        constraints = [
            lengths("accounts_emaildomainblock_lengths", domain=HOST_LIMIT),
            models.CheckConstraint(
                condition=models.Q(domain=Lower("domain")), name="accounts_email_domain_block_lower_case"
            ),
        ]

    def __str__(self) -> str:
        return self.domain


class EmailDomainRefusal(models.Model):
    """Count of the sign-ups that a block refused on one day (UTC) from one network address, which is stored as a digest."""

    block = models.ForeignKey(EmailDomainBlock, on_delete=models.CASCADE, related_name="refusals", db_index=False)
    day = models.DateField()
    address_digest = models.TextField()
    uses = models.IntegerField(default=1)

    class Meta:
        constraints = [
            lengths("accounts_emaildomainrefusal_lengths", address_digest=NAME_LIMIT),
            models.UniqueConstraint(fields=["block", "day", "address_digest"], name="accounts_email_refusal_key"),
        ]
        indexes = [models.Index(fields=["day"], name="accounts_email_refusal_day")]


class CanonicalEmailBlock(models.Model):
    """Digest of an e-mail address that is blocked in any spelling. The row is deleted when `account`'s suspension ends."""

    id = SnowflakeField(primary_key=True)
    digest = models.TextField(unique=True)
    account = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("blocked e-mail address")
        verbose_name_plural = _("blocked e-mail addresses")
        constraints = [lengths("accounts_canonicalemailblock_lengths", digest=NAME_LIMIT)]

    def __str__(self) -> str:
        return self.digest


class IpBlock(models.Model):
    """Network from which sign-ups, or all requests, are refused; an expired block does not count."""

    id = SnowflakeField(primary_key=True)
    network = models.TextField(unique=True)
    # First and last address of the network, for comparisons in the database.
    first = models.GenericIPAddressField()
    last = models.GenericIPAddressField()
    severity = models.TextField(choices=Severity.choices)
    comment = models.TextField(default="")
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("blocked network")
        verbose_name_plural = _("blocked networks")
        constraints = [
            lengths("accounts_ipblock_lengths", network=NAME_LIMIT, severity=WORD_LIMIT, comment=BLOCK_COMMENT_LIMIT)
        ]

    def __str__(self) -> str:
        return self.network

    @classmethod
    def of(cls, network: ipaddress.IPv4Network | ipaddress.IPv6Network, severity: Severity) -> "IpBlock":
        """Build a block of a network, without storing it."""
        return cls(
            network=str(network),
            first=str(network.network_address),
            last=str(network.broadcast_address),
            severity=severity,
        )


class UsernameBlock(models.Model):
    """Blocked username; unless `exact`, every name that contains it is blocked. Look-alike digits count as letters."""

    username = models.TextField()
    normalised = models.TextField(unique=True)
    exact = models.BooleanField(default=True)
    allow_with_approval = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("blocked username")
        verbose_name_plural = _("blocked usernames")
        constraints = [lengths("accounts_usernameblock_lengths", username=NAME_LIMIT, normalised=NAME_LIMIT)]

    def __str__(self) -> str:
        return self.username


class RetiredUsername(models.Model):
    """Username of a deleted local account, in lower case.

    Nobody can choose it again, because the new owner would get mentions and private posts that are meant for the former owner
    (security row 18). A database trigger adds the row.
    """

    username = models.TextField(primary_key=True)
    retired_at = models.DateTimeField(db_default=models.functions.Now())

    class Meta:
        constraints = [lengths("accounts_retiredusername_lengths", username=NAME_LIMIT)]
