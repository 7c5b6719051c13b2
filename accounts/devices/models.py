"""End-to-end encryption devices, their one-time keys, and the messages that are waiting for them."""

from django.db import models
from django.db.models import Q

from accounts.identity.models import AccessToken
from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import lengths

DEVICE_TEXT_LIMIT = 255
KEY_LIMIT = 1024
BODY_LIMIT = 65536


class Device(models.Model):
    """Client program of an account, bound to the access token it registered with: one device per token."""

    access_token = models.OneToOneField(AccessToken, on_delete=models.CASCADE, related_name="device")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="devices", db_index=False)
    device_id = models.TextField(default="")
    name = models.TextField()
    fingerprint_key = models.TextField()
    identity_key = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_device_lengths", fingerprint_key=KEY_LIMIT, identity_key=KEY_LIMIT),
            models.UniqueConstraint(fields=["account", "device_id"], name="accounts_device_id"),
            models.CheckConstraint(
                condition=Q(device_id__length__lte=DEVICE_TEXT_LIMIT, name__length__lte=DEVICE_TEXT_LIMIT),
                name="accounts_device_length",
            ),
        ]


class OneTimeKey(models.Model):
    """Key that starts one session with a device: handed out once, then deleted."""

    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="one_time_keys", db_index=False)
    key_id = models.TextField()
    key = models.TextField()
    signature = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["device", "key_id"], name="accounts_onetimekey_id"),
            models.CheckConstraint(
                condition=Q(
                    key_id__length__lte=DEVICE_TEXT_LIMIT, key__length__lte=KEY_LIMIT, signature__length__lte=KEY_LIMIT
                ),
                name="accounts_onetimekey_length",
            ),
        ]


class EncryptedMessage(models.Model):
    """Message that only its recipient's device can read; it is stored until the device clears it."""

    id = SnowflakeField(primary_key=True)
    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="encrypted_messages", db_index=False)
    from_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    from_device_id = models.TextField()
    type = models.IntegerField(default=0)
    body = models.TextField()
    digest = models.TextField()
    message_franking = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_encryptedmessage_lengths", from_device_id=DEVICE_TEXT_LIMIT, message_franking=BODY_LIMIT),
            models.CheckConstraint(
                condition=Q(body__length__lte=BODY_LIMIT, digest__length__lte=KEY_LIMIT),
                name="accounts_encryptedmessage_length",
            ),
        ]
        indexes = [models.Index(fields=["device", "-id"], name="accounts_message_device")]
