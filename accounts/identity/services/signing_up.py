"""Creates accounts for people who sign up."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.events import AccountCreated, ConfirmationRequested, UserActivated, UserWaiting
from accounts.identity.policies.sign_up import (
    Decision,
    Findings,
    Identity,
    SignUpDraft,
    age_errors,
    draft_errors,
    in_order,
)
from accounts.identity.queries.sign_up import find_usable_invite, load_findings
from accounts.identity.services.activation import use_invite
from accounts.identity.services.sign_up_blocks import count_refusals
from accounts.models import Account, Application, Invite, User
from accounts.models.user import Permission
from accounts.queries.site_settings import find_minimum_age, find_registrations, must_confirm_email
from accounts.services import key_pairs
from accounts.services.audit import record_about
from accounts.services.changing import change_account
from accounts.spam.models import RuleOutcome, RuleSubject, SpamRule
from accounts.spam.policies import SignUpFacts, is_held
from accounts.spam.queries import load_rules
from accounts.spam.services.matches import as_staff, record_matches
from social.kernel import clock, links
from social.kernel.errors import Forbidden, Invalid
from social.kernel.events import publish
from social.kernel.http.mail_domains import find_mail_hosts
from social.kernel.text.names import normalise_domain


def look_up_mail_hosts(email: str) -> list[str] | None:
    """Return the hosts that accept mail for an address; empty if there are none, None without CHECK_EMAIL_DOMAINS.

    Takes up to four seconds, so call it outside of transactions. Raises Unavailable.
    """
    if not settings.CHECK_EMAIL_DOMAINS:
        return None
    domain = normalise_domain(email.rpartition("@")[2])
    return [] if domain is None else find_mail_hosts(domain)


def sign_up(
    *,
    draft: SignUpDraft,
    application: Application | None = None,
    confirmed: bool | None = None,
    approved: bool | None = None,
    identity: Identity | None = None,
) -> User:
    """Create account, user and e-mail address in one transaction. Publishes AccountCreated.

    `confirmed` and `approved` default to the settings; if an operator's command gives one of them, closed registrations, blocks
    and reserved names are ignored. A usable invitation opens closed registrations; the invited person needs approval unless
    registrations are open or the inviter may bypass approval. With an `identity` the user has no password, and need not confirm
    the address that the issuer has confirmed. Raises Forbidden when registrations are closed, the network is blocked, or people
    may sign up only through issuers; Invalid with `details` (parameters section 2, behaviours section 6).
    """
    # Addresses are looked up in lower case at sign-in.
    draft = replace(draft, email=draft.email.strip().lower())
    by_operator = confirmed is not None or approved is not None
    invite = find_usable_invite(draft.invite_code) if not by_operator else None
    registrations = find_registrations()
    by_password_only = settings.ISSUERS_ONLY and identity is None
    if not by_operator and (by_password_only or (registrations == "closed" and invite is None)):
        raise Forbidden(_("This action is not allowed"))
    minimum_age = 0 if by_operator else find_minimum_age()
    errors = draft_errors(
        draft,
        reason_required=registrations == "approval" and not by_operator and not invite,
        has_password=identity is None,
    )
    if by_operator:
        # Reserved names prevent impersonation of the server; its operator may use them.
        errors = [error for error in errors if error.code != "ERR_RESERVED"]
    elif minimum_age:
        today = clock.now().date()
        errors += age_errors(draft.date_of_birth, minimum=minimum_age, today=today)
    faulty = {error.field for error in errors}
    mail_hosts = None if by_operator or "email" in faulty else look_up_mail_hosts(draft.email)
    findings = _findings(draft, faulty, mail_hosts)
    if findings.network is Decision.REFUSED and not by_operator:
        raise Forbidden(_("Forbidden"))
    errors += findings.errors(faulty=faulty, by_operator=by_operator)
    if errors:
        if any(error.code == "ERR_BLOCKED" for error in errors):
            count_refusals(email=draft.email, mail_hosts=mail_hosts or (), address=draft.ip)
        raise Invalid.of(in_order(errors), details=True)
    met = [] if by_operator else _met_rules(draft)
    if approved is None:
        let_in = registrations == "open" or (invite is not None and _replaces_approval(invite))
        approved = by_operator or (let_in and not findings.needs_approval and is_held(met) is None)
    verified = confirmed if confirmed is not None else not must_confirm_email()
    verified = verified or (identity is not None and identity.email == draft.email)
    # Done outside the transaction, because hashing takes tens of milliseconds, and generating a key pair a tenth of a second.
    password = make_password(draft.password if identity is None else None)
    keys = key_pairs.new_rsa_pair()
    now = clock.now()
    locales = {code for code, _name in settings.LANGUAGES}
    try:
        with transaction.atomic():
            account = Account.objects.create(username=draft.username, uri=links.actor_uri(draft.username))
            key_pairs.store_keys(account=account, pair=keys)
            user = User.objects.create(
                account=account,
                email=draft.email,
                password=password,
                locale=draft.locale if draft.locale in locales else None,
                time_zone=draft.time_zone if draft.time_zone in clock.time_zones() else None,
                approved=approved,
                activated_at=now if approved and verified else None,
                waiting_since=now if verified and not approved else None,
                age_verified_at=now if minimum_age else None,
                invite=invite,
                sign_up_reason=draft.reason,
                sign_up_ip=draft.ip,
                created_by_application=application,
            )
            EmailAddress.objects.create(user=user, email=draft.email, primary=True, verified=verified)
            if identity is not None:
                SocialAccount.objects.create(
                    user=user, provider=identity.issuer, uid=identity.subject, extra_data={"name": identity.name}
                )
            if invite is not None:
                use_invite(invite=invite)
            if met:
                record_matches(account_id=account.id, rules=met, limited_by=_limit(account, met))
            publish(AccountCreated(account_id=account.id))
            if user.activated_at is not None:
                publish(UserActivated(user_id=user.id, invited=invite is not None))
            if user.waiting_since is not None:
                publish(UserWaiting(user_id=user.id))
            if not verified:
                publish(ConfirmationRequested(user_id=user.id, return_to=draft.return_to))
    except IntegrityError:
        # If two people sign up with the same name at the same moment, the unique index refuses one of them, who gets an error.
        errors = _findings(draft).errors()
        if not errors:
            raise
        raise Invalid.of(in_order(errors), details=True) from None
    return user


def _findings(draft: SignUpDraft, faulty: Collection[str] = (), mail_hosts: Collection[str] | None = None) -> Findings:
    """Look up the data of a sign-up in the tables, except `faulty` fields, whose values PostgreSQL might not accept."""
    return load_findings(
        username="" if "username" in faulty else draft.username,
        email="" if "email" in faulty else draft.email,
        address=draft.ip,
        mail_hosts=mail_hosts,
    )


def _met_rules(draft: SignUpDraft) -> list[SpamRule]:
    rules = load_rules(RuleSubject.SIGN_UPS)
    domain = normalise_domain(draft.email.rpartition("@")[2]) or ""
    return rules.met_by_sign_up(SignUpFacts(draft.reason, domain, draft.ip)) if rules else []


def _limit(account: Account, met: Sequence[SpamRule]) -> list[SpamRule]:
    """Limit a new account if a matched rule has the outcome LIMIT, and write an audit row; return that rule, in a list."""
    limiting = [rule for rule in met if rule.outcome == RuleOutcome.LIMIT][:1]
    for rule in limiting:
        change_account(account.id, limited_at=clock.now())
        record_about(as_staff(rule), "limit", account)
    return limiting


def _replaces_approval(invite: Invite) -> bool:
    return invite.inviter is None or invite.inviter.role.can(Permission.INVITE_BYPASS_APPROVAL)
