"""Declarations of all settings: the variable of the environment, its default and its meaning (`make documents`)."""

from typing import Final

_SECRET: Final = (
    "`secrets.json` of `DATA_DIR`, generated once",
    "the server starts only with the value with which the database was created",
)
_REDIS: Final = ("`REDIS_URL`", "separate server for this role")

#: variable: (default, meaning), in Markdown and in the order of docs/settings.md
SETTINGS: Final[dict[str, tuple[str, str]]] = {
    "PORT": ("`8000`", "port of the pages and the API"),
    "STREAMING_PORT": ("`4000`", "port of the streams"),
    "BIND": ("`127.0.0.1`", "network address on which both ports listen"),
    "LOCAL_DOMAIN": (
        "`localhost:PORT`",
        "domain in people's addresses; stored at the first start, **for ever**. Only `localhost` and other names of this "
        "machine have a port; if the server later runs on another port, the stored domain stays the same: only the "
        "addresses of pages and API change",
    ),
    "WEB_DOMAIN": ("`LOCAL_DOMAIN`", "domain of the pages and the API, if it is not `LOCAL_DOMAIN`"),
    "STREAMING_API_BASE_URL": (
        "`wss://WEB_DOMAIN`, on localhost `ws://localhost:STREAMING_PORT`",
        "address of the streams for clients",
    ),
    "DATA_DIR": ("`var`", "folder of database, files, secrets and mail"),
    "WEB_WORKERS": ("`2`", "web processes, 8 threads each"),
    "WORKER_LANES": (
        "all",
        "lanes of background work that a worker process handles: `local`, `ingress`, `network`, `media`",
    ),
    "DATABASE_URL": ("embedded", "`postgres://user:password@host:port/name`, PostgreSQL 15 or later"),
    "PREPARED_STATEMENTS": (
        "`yes`",
        "`no` for a transaction pooler that does not support them, such as PgBouncer before 1.21",
    ),
    "REDIS_URL": ("embedded", "`redis://:password@host:6379/0`, Redis 7 or Valkey 8 or later"),
    "REDIS_CACHE_URL": _REDIS,
    "REDIS_BROKER_URL": _REDIS,
    "REDIS_STREAMS_URL": _REDIS,
    "REDIS_FEEDS_URL": _REDIS,
    "REGISTRATIONS": (
        "`open` on localhost, else `approval`",
        "`open`: everybody can sign up; `approval`: staff approve sign-ups; `closed`: only people with an "
        "invitation. Invitations work in all three cases. If this is not set, staff choose in the administration",
    ),
    "CONFIRM_EMAIL": (
        "`no` on localhost, else `yes`",
        "whether people must confirm their e-mail address after a sign-up. If this is not set, staff choose in the "
        "administration",
    ),
    "CHECK_EMAIL_DOMAINS": (
        "`no`",
        "`yes`: before somebody signs up, the DNS is asked whether the domain of the e-mail address accepts "
        "e-mail; blocks of e-mail domains then also apply to the mail servers of the domain",
    ),
    "CAPTCHA_SERVICE": (
        "none",
        "captcha on the page that confirms an e-mail address after a sign-up: "
        "`hcaptcha+https://SITEKEY:SECRET@api.hcaptcha.com/siteverify`; see [operating.md](operating.md#captcha)",
    ),
    "CAPTCHA_SCRIPT": ("`https://js.hcaptcha.com/1/api.js`", "script of the captcha"),
    "CAPTCHA_SERVICE_LOOPBACK": ("`no`", "whether the address in `CAPTCHA_SERVICE` may be on this machine"),
    "MINIMUM_AGE": (
        "`0`",
        "minimum age in years for signing up; people enter their date of birth, which is not stored. If this is not "
        "set, staff choose in the administration",
    ),
    "MAIL_EVERY_REPORT": (
        "`no`",
        "`yes`: staff are notified of every report; `no`: only of reports about accounts without other open reports",
    ),
    "ANNUAL_REPORTS": ("`yes`", "whether people are offered a report of their year, from 10 to 31 December"),
    "NODEINFO_NAME": (
        "`social`",
        "`mastodon` gives this name to the software in NodeInfo, for clients that look at it: Phanpy shows exclusive "
        "lists, filtered notifications and more only then, and Pachli and Fedilab search with operators. But "
        "statistics of the network, people of other servers and scanners for vulnerabilities then take this server "
        "for Mastodon",
    ),
    "SIGN_IN_ISSUERS": (
        "none",
        "file with the issuers of OpenID Connect with which people can sign in; see "
        "[operating.md](operating.md#sign-in-with-an-organisation)",
    ),
    "SIGN_IN_ISSUERS_ONLY": (
        "`no`",
        "`yes`: people can sign in and sign up only with these issuers, not with passwords or passkeys",
    ),
    "SIGN_IN_ISSUERS_LOOPBACK": ("`no`", "whether these issuers may be on this machine and use http"),
    "STAFF_SECOND_FACTOR": (
        "`no` on localhost, else `yes`",
        "whether staff need a second factor for the administration and the admin API",
    ),
    "LIMITED_FEDERATION": (
        "`no`",
        "`yes` federates only with servers that staff have allowed, in secure mode. If this is not set, staff choose "
        "in the administration",
    ),
    "AUTHORIZED_FETCH": (
        "`no`",
        "secure mode: with `yes`, other servers must sign requests for documents, so that blocks also apply to "
        "reading; some software then cannot read posts from this server",
    ),
    "DISABLE_FOLLOWERS_SYNCHRONIZATION": (
        "`no`",
        "`yes` disables the comparison of followers with other servers (FEP-8fcf), in both directions",
    ),
    "FEDERATION_LOOPBACK": (
        "`no`",
        "`yes` lets servers on this machine federate over http; it is refused for domains other than `localhost`",
    ),
    "ALLOWED_PRIVATE_ADDRESSES": (
        "none",
        "private networks to which this server may send requests, such as those of an intranet",
    ),
    "TRUSTED_PROXIES": ("none", "network addresses of proxies whose `X-Forwarded-For` is trusted"),
    "RATE_LIMITS": ("`on`", "`off` for load tests"),
    "EMAIL_URL": ("files in `DATA_DIR/mail`", "`smtp+tls://user:password@host:587`"),
    "MAIL_FROM": (
        "`notifications@LOCAL_DOMAIN`",
        "sender of e-mails; if it has no display name, as in `Name <name@social.example>`, the name of the server is "
        "used",
    ),
    "MEDIA_STORAGE": (
        "`DATA_DIR/media`",
        "object storage for uploaded files: `s3+https://KEY:SECRET@s3.example.com/bucket?region=eu-central-1`; add "
        "`&addressing=virtual` if the name of the bucket precedes the host, and `&acl=public-read` if no policy of "
        "the bucket lets everybody read",
    ),
    "MEDIA_BASE_URL": (
        "the bucket, or `/system/`",
        "public address of uploaded files, if it is not the default, such as `https://files.social.example`",
    ),
    "MEDIA_SCANNER": (
        "none",
        "service or program that scans uploads and copies of files before they are shown: "
        "`https://scanner.example/scan` or `command:clamdscan --no-summary -`; see [media.md](media.md)",
    ),
    "MEDIA_SCANNER_LOOPBACK": ("`no`", "whether the address in `MEDIA_SCANNER` may be on this machine"),
    "TRANSLATION_SERVICE": (
        "none",
        "service that translates posts: `libretranslate+https://KEY@translate.example` (`KEY@` only if the service "
        "needs one) or `deepl+https://KEY@api-free.deepl.com`; see [operating.md](operating.md#translation)",
    ),
    "TRANSLATION_SERVICE_LOOPBACK": ("`no`", "whether the address in `TRANSLATION_SERVICE` may be on this machine"),
    "WEB_CLIENT": (
        "none",
        "folder with a static web client, such as Phanpy or Elk, which is served at `/app/`; see "
        "[operating.md](operating.md#a-web-client-of-your-choice)",
    ),
    "KEEP_ADDRESSES_DAYS": (
        "`365`",
        "days for which the network addresses of sign-ups are kept, and after which unused sessions end; `0`: for ever",
    ),
    "KEEP_AUDIT_LOG_DAYS": ("`0`", "days for which the audit log is kept, at least 30; `0`: for ever"),
    "KEEP_CLOSED_REPORTS_DAYS": ("`0`", "days for which resolved reports are kept; `0`: for ever"),
    "KEEP_HELD_POSTS_DAYS": (
        "`90`",
        "days after which a post that is held for review is discarded if nobody has decided about it; `0`: never",
    ),
    "KEEP_REMOTE_POSTS_DAYS": (
        "`0`",
        "days after which posts from other servers that nobody here needs are removed, at least 7; `0`: never; see "
        "[operating.md](operating.md#posts-of-other-servers). If this is not set, staff choose in the administration",
    ),
    "REMOTE_POSTS_LIMIT": (
        "`0`",
        "maximum number of posts from other servers; if there are more, the oldest ones that nobody here needs are removed; "
        "`0`: no limit. If this is not set, staff choose in the administration",
    ),
    "KEEP_NOTIFICATIONS_DAYS": ("`0`", "days for which notifications are kept; `0`: for ever"),
    "REMOTE_MEDIA_MEGABYTES": (
        "`10240`",
        "maximum size of all copies of files from other servers; the copies that nobody has looked at for longest are "
        "removed first. If this is not set, staff choose in the administration",
    ),
    "DEFAULT_LANGUAGE": (
        "`en`",
        "language for people who have not chosen one: `en`, `de`, `ar`. If this is not set, staff choose in the "
        "administration",
    ),
    "LOG_FORMAT": ("`console`; `json` for a separate process", "`json` for programs, `console` for people"),
    "LOG_LEVEL": ("`info`", "`debug`, `info`, `warning`, `error`"),
    "ACCESS_LOG": (
        "`yes` with `LOG_LEVEL=debug`, else `no`",
        "`yes` logs each request, except requests for `/health`",
    ),
    "CHECKED_ANSWERS": (
        "`0` (none)",
        "`100`: each web process compares every hundredth API response with the OpenAPI document and logs differences, "
        "without values",
    ),
    "SENTRY_DSN": (
        "none",
        "Sentry project that gets redacted error reports: `https://key@sentry.example/1`; needs "
        "`requirements/observability.txt`",
    ),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "none",
        "OpenTelemetry collector that gets traces of requests, tasks and fetches, without people's addresses and "
        "bodies: `http://127.0.0.1:4318`; needs `requirements/observability.txt`",
    ),
    "METRICS_TOKEN": (
        "none: only callers on this machine",
        "bearer token for `/metrics`, with at least 16 characters",
    ),
    "SECRET_KEY": _SECRET,
    "SECRET_KEY_FALLBACKS": (
        "`secrets.json`",
        "former secret keys, separated by commas, whose sessions and links stay valid; see `manage.py rotate_secrets`",
    ),
    "VAPID_PRIVATE_KEY": _SECRET,
    "VAPID_PUBLIC_KEY": _SECRET,
    "FIELD_ENCRYPTION_KEYS": _SECRET,
}
