from notifications.models.mail import Mailing, MailItem, MailRecord
from notifications.models.notification import AnnualReport, Notification, NotificationType
from notifications.models.policy import Handling, NotificationPermission, NotificationPolicy, NotificationRequest
from notifications.models.push import Push, PushPolicy, PushSubscription

__all__ = [
    "AnnualReport",
    "Handling",
    "MailItem",
    "MailRecord",
    "Mailing",
    "Notification",
    "NotificationPermission",
    "NotificationPolicy",
    "NotificationRequest",
    "NotificationType",
    "Push",
    "PushPolicy",
    "PushSubscription",
]
