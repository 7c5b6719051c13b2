"""Tables of the notifications to be mailed, and of the mails that each recipient has received."""

from django.db import models

from accounts.models import Account
from notifications.events import MailsDue
from notifications.models.notification import Notification
from social.kernel import clock
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, lengths
from social.kernel.runner import WaitingRow


class MailItem(models.Model):
    """A notification that its recipient wants by mail. The row is deleted when the recipient's `Mailing` is processed."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    notification = models.ForeignKey(
        Notification, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "notification"], name="notifications_mailitem_once")]

    def __str__(self) -> str:
        return f"{self.notification_id} for {self.account_id}"


class Mailing(WaitingRow):
    """A queue entry for a recipient who may have to get a mail about items, or a summary. A recipient has at most one entry."""

    queue = "mails"
    due = MailsDue

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="+")

    class Meta(WaitingRow.Meta):
        constraints = [lengths("notifications_mailing_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT)]

    def __str__(self) -> str:
        return f"mails for {self.account_id}"


class MailRecord(models.Model):
    """Mails to a recipient: `sent` is their number in the hour since `began_at`, `summary_at` the time of the last summary."""

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.CASCADE, related_name="mail_record")
    began_at = models.DateTimeField(default=clock.now)
    sent = models.PositiveSmallIntegerField(default=0)
    summary_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.sent} for {self.account_id}"
