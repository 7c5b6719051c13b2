"""Custom emojis, local and remote."""

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, NAME_LIMIT, PATH_LIMIT, URI_LIMIT, lengths


class CustomEmoji(models.Model):
    """Shortcode with its picture; `domain` is NULL for local emojis.

    The picture of a remote emoji, at `remote_url`, is copied on request (docs/adr/0021). `updated_at` is the time of the last
    change, as stated by the emoji's server.
    """

    id = SnowflakeField(primary_key=True)
    shortcode = models.TextField()
    domain = models.TextField(null=True)
    uri = models.TextField(null=True)
    image = models.TextField(default="")
    static_image = models.TextField(default="")
    remote_url = models.TextField(default="")
    category = models.TextField(default="")
    visible_in_picker = models.BooleanField(default=True)
    disabled = models.BooleanField(default=False)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("custom emoji")
        verbose_name_plural = _("custom emojis")
        constraints = [
            lengths(
                "accounts_customemoji_lengths",
                domain=HOST_LIMIT,
                uri=URI_LIMIT,
                image=PATH_LIMIT,
                static_image=PATH_LIMIT,
                remote_url=URI_LIMIT,
                category=NAME_LIMIT,
            ),
            models.UniqueConstraint("shortcode", Coalesce("domain", Value("")), name="accounts_customemoji_name"),
            models.CheckConstraint(condition=Q(shortcode__length__lte=2048), name="accounts_customemoji_length"),
        ]
        indexes = [models.Index(fields=["domain", "shortcode"], name="accounts_customemoji_domain")]

    def __str__(self) -> str:
        return f":{self.shortcode}:"
