"""The Django configuration of the app `federation`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FederationConfig(AppConfig):
    """Federation: what comes from other servers and what goes to them. Nothing imports it; it can be left out."""

    name = "federation"
    verbose_name = _("Other servers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps below, answer their ports, and put documents into archives.

        A deleted account keeps its keys for as long as something that it has signed is on its way.
        """
        from accounts.ports import remote_accounts, remote_devices
        from accounts.services import erasing, merging
        from federation import reactions  # noqa: F401  (importing it subscribes)
        from federation.models import OutboundActivity
        from federation.outbound.archiving import register_parts
        from federation.outbound.messages import DevicesElsewhere
        from federation.outbound.queueing import is_delivering
        from federation.remote.held import HeldDocuments
        from federation.remote.lookups import RemoteAddresses, RemoteDocuments
        from federation.remote.threads import RemoteThreads
        from statuses.ports import remote_documents, remote_threads
        from timelines.ports import remote_objects

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
        # What it has sent is its own: it is believed of nobody else.
        merging.register("received activities", None, ("federation.InboundActivity", "actor"))
        register_parts()
        erasing.register_hold(erasing.Hold((OutboundActivity,), is_delivering))
