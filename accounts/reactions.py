"""When X is announced, do Y."""

from accounts.events import (
    AccountUnlocked,
    ConfirmationRequested,
    DomainBlocked,
    PasswordResetRequested,
    ProfileLinksChanged,
    SecurityChanged,
    TokenRevoked,
    UserActivated,
    UserApproved,
)
from accounts.services.activation import follow_inviters
from accounts.services.confirmations import send_confirmation_mails
from accounts.services.follow_requests import accept_more
from accounts.services.mails import send_approval_mails, send_password_reset_mails, send_security_mails
from accounts.services.profile_links import verify_profile_links
from accounts.services.severing import sever_blocked_domains
from accounts.services.tokens import forget_revoked
from social.kernel.events import on

# A mail server may take its time: few mails a call, and time enough for them.
on(ConfirmationRequested, send_confirmation_mails, queue="mailers", batch=5, seconds=90)
on(PasswordResetRequested, send_password_reset_mails, queue="mailers", batch=5, seconds=90)
on(SecurityChanged, send_security_mails, queue="mailers", batch=5, seconds=90)
on(UserApproved, send_approval_mails, queue="mailers", batch=5, seconds=90)
on(UserActivated, follow_inviters, when=lambda event: event.invited)
on(AccountUnlocked, accept_more, batch=1)
on(ProfileLinksChanged, verify_profile_links, queue="fetches", batch=1, seconds=60)
on(DomainBlocked, sever_blocked_domains, batch=1)
# Once more, in case Redis was away at the moment of the revocation.
on(TokenRevoked, forget_revoked)
