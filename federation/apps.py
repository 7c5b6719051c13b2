"""Django configuration of the app `federation`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FederationConfig(AppConfig):
    """Federation with other servers. No other app imports this app, so a server can run without it."""

    name = "federation"
    verbose_name = _("Other servers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events, implement the ports of other apps, and register this app's steps for archives, account merges
        and erasures.
        """
        from django.db.models import Exists, OuterRef

        from accounts.devices.ports import remote_devices
        from accounts.ports import remote_accounts
        from accounts.services import erasing
        from accounts.transfers.services import merging
        from federation import reactions  # noqa: F401  (importing it subscribes)
        from federation.models import OutboundActivity, ThreadWalk
        from federation.outbound.archiving import register_parts
        from federation.outbound.messages import DevicesElsewhere
        from federation.outbound.queueing import is_delivering
        from federation.remote.held import HeldDocuments
        from federation.remote.lookups import RemoteAddresses, RemoteDocuments
        from federation.remote.threads import RemoteThreads
        from statuses.ports import remote_documents, remote_threads
        from statuses.services.remote_retention import register_need
        from timelines.ports import remote_objects

        register_need(Exists(ThreadWalk.objects.filter(status_id=OuterRef("id"))))
        if remote_accounts.find() is None:
            remote_accounts.plug(RemoteAddresses())
        if remote_devices.find() is None:
            remote_devices.plug(DevicesElsewhere())
        if remote_objects.find() is None:
            remote_objects.plug(RemoteDocuments())
        if remote_documents.find() is None:
            remote_documents.plug(HeldDocuments())
        if remote_threads.find() is None:
            remote_threads.plug(RemoteThreads())
        # Received activities are not moved when accounts are merged, because a received activity proves only what its signer
        # has done.
        merging.register("received activities", None, ("federation.InboundActivity", "actor"))
        register_parts()
        erasing.register_hold(erasing.Hold((OutboundActivity,), is_delivering))
