"""The domains and the fingerprints of the secrets with which an installation was first started."""

from django.db import models
from django.db.models.functions import Now

from social.kernel.lengths import HOST_LIMIT, OBJECT_LIMIT, lengths


class Installation(models.Model):
    """Single row with the domains of this installation, which the first start writes. The domains must not change, because
    other servers store ids that contain them.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    local_domain = models.TextField()
    #: The domain of the pages, and of new ids, at the last start.
    web_domain = models.TextField(null=True)
    fingerprints = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        app_label = "social"
        db_table = "social_installation"
        constraints = [
            lengths(
                "social_installation_lengths", local_domain=HOST_LIMIT, web_domain=HOST_LIMIT, fingerprints=OBJECT_LIMIT
            ),
            models.CheckConstraint(condition=models.Q(id=1), name="installation_is_one"),
        ]
