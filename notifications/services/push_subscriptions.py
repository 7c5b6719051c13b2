"""Creates, changes and ends the push subscriptions of applications."""

from django.db import transaction

from accounts.models import AccessToken
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from notifications.models import PushSubscription
from notifications.policies import push
from notifications.queries.pushes import find_push_subscription
from social.kernel.errors import Invalid, Unauthorized
from social.kernel.http.client import place_of


def subscribe(*, token_id: int, target: push.PushTarget, settings: push.PushSettings) -> PushSubscription:
    """Create the push subscription of an access token; it replaces an earlier subscription.

    If the user then has more than SUBSCRIPTIONS_LIMIT subscriptions, the oldest ends. Raises Invalid (contract, parameters
    section 5), and Unauthorized when the token is being revoked.
    """
    place = place_of(target.endpoint)
    if errors := list(push.target_errors(target, may_be_asked=place is not None)):
        raise Invalid.of(errors)
    assert place is not None  # `target_errors` refuses all other endpoints
    with transaction.atomic():
        token = AccessToken.objects.select_for_update().filter(pk=token_id).first()
        if token is None:
            raise Unauthorized
        PushSubscription.objects.filter(token=token).delete()
        subscription = PushSubscription.objects.create(
            token=token,
            endpoint=target.endpoint,
            host=place.netloc,
            p256dh=target.p256dh,
            auth=target.auth,
            standard=target.standard,
            alerts=settings.alerts,
            policy=settings.policy,
        )
        subscriptions = PushSubscription.objects.filter(token__user_id=token.user_id).order_by("-id")
        too_many = list(subscriptions.values_list("id", flat=True)[push.SUBSCRIPTIONS_LIMIT :])
        PushSubscription.objects.filter(id__one_of=too_many).delete()
    return subscription


def change_push_settings(*, token_id: int, settings: push.PushSettings) -> PushSubscription:
    """Replace the settings of a subscription; values that are left out get their defaults. Raises NotFound."""
    PushSubscription.objects.filter(token_id=token_id).update(alerts=settings.alerts, policy=settings.policy)
    return find_push_subscription(token_id)


def unsubscribe(*, token_id: int) -> None:
    """End the subscription of an access token, if there is one."""
    PushSubscription.objects.filter(token_id=token_id).delete()


def unsubscribe_by_link(*, signed: str) -> None:
    """End the subscription named in `signed`, the last part of an `unsubscribe_url`. Any other text is ignored."""
    subscription_id = push.signed_subscription(signed)
    if subscription_id is not None:
        PushSubscription.objects.filter(id=subscription_id).delete()


def forget_all_subscriptions(*, by: Staff) -> int:
    """End every subscription, because this server's keys are being replaced; return their number. Raises Forbidden."""
    require(by, Permission.ADMINISTRATOR)
    with transaction.atomic():
        count = PushSubscription.objects.count()
        PushSubscription.objects.all().delete()
        record(by=by, action="rotate_secrets", target_type="Server", target_id=0, target_name="", subscriptions=count)
    return count
