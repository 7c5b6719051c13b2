"""Declarations of all settings: the variable of the environment, its default and its meaning (`make documents`)."""

from __future__ import annotations

from typing import Final

_SECRET: Final = (
    "`secrets.json` of `DATA_DIR`, generated once",
    "another one than the database was made with is refused",
)
_REDIS: Final = ("`REDIS_URL`", "a server for this role alone")

#: variable: (default, meaning), in Markdown and in the order of docs/settings.md
SETTINGS: Final[dict[str, tuple[str, str]]] = {
    "PORT": ("`8000`", "port of the pages and the API"),
    "STREAMING_PORT": ("`4000`", "port of the streams"),
    "BIND": ("`127.0.0.1`", "address that both listen on"),
    "LOCAL_DOMAIN": (
        "`localhost:PORT`",
        "domain in people's addresses; stored at the first start, **for ever**: on another port later, `localhost` keeps "
        "it, and only pages and API move",
    ),
    "WEB_DOMAIN": ("`LOCAL_DOMAIN`", "domain of the pages and the API, if it is another one"),
    "STREAMING_API_BASE_URL": (
        "`wss://WEB_DOMAIN`, on localhost `ws://localhost:STREAMING_PORT`",
        "address of the streams for clients",
    ),
    "DATA_DIR": ("`var`", "folder of database, files, secrets and mail"),
    "WEB_WORKERS": ("`2`", "web processes, 8 threads each"),
    "WORKER_LANES": ("all", "background work of a worker process: `local`, `ingress`, `network`, `media`"),
    "DATABASE_URL": ("embedded", "`postgres://user:password@host:port/name`, PostgreSQL 15 or later"),
    "PREPARED_STATEMENTS": (
        "`yes`",
        "`no` behind a transaction pooler that does not support them, such as PgBouncer before 1.21",
    ),
    "REDIS_URL": ("embedded", "`redis://:password@host:6379/0`, Redis 7 or Valkey 8 or later"),
    "REDIS_CACHE_URL": _REDIS,
    "REDIS_BROKER_URL": _REDIS,
    "REDIS_STREAMS_URL": _REDIS,
    "REDIS_FEEDS_URL": _REDIS,
    "REGISTRATIONS": (
        "`open` on localhost, else `approval`",
        "`open`; `approval`: staff let people in; `closed`: by invitation alone. An invitation works in each. "
        "Without it staff choose in the administration",
    ),
    "CONFIRM_EMAIL": (
        "`no` on localhost, else `yes`",
        "whether an address must be confirmed first. Without it staff choose in the administration",
    ),
    "CHECK_EMAIL_DOMAINS": (
        "`no`",
        "`yes` asks the DNS whether the domain of an address takes mail before somebody signs up with it; blocks of "
        "e-mail domains then stop mail servers too",
    ),
    "CAPTCHA_SERVICE": (
        "none",
        "captcha behind the link that confirms an address after a sign-up: "
        "`hcaptcha+https://SITEKEY:SECRET@api.hcaptcha.com/siteverify`; see [operating.md](operating.md#captcha)",
    ),
    "CAPTCHA_SCRIPT": ("`https://js.hcaptcha.com/1/api.js`", "script of its widget"),
    "CAPTCHA_SERVICE_LOOPBACK": ("`no`", "whether the address in `CAPTCHA_SERVICE` may be this machine's"),
    "MINIMUM_AGE": (
        "`0`",
        "age in years for signing up; the date of birth is asked for and not kept. "
        "Without it staff choose in the administration",
    ),
    "MAIL_EVERY_REPORT": (
        "`no`",
        "`yes` notifies staff of every report; otherwise of the first that is open about an account",
    ),
    "ANNUAL_REPORTS": ("`yes`", "whether people are offered a report of their year, from 10 to 31 December"),
    "NODEINFO_NAME": (
        "`social`",
        "`mastodon` names this software so in NodeInfo, for clients that ask for the name: Phanpy shows exclusive lists, "
        "filtered notifications and more only then, Pachli and Fedilab search with operators. Statistics of the network and "
        "people of other servers then take this server for one of Mastodon, and so do scanners for its faults",
    ),
    "SIGN_IN_ISSUERS": (
        "none",
        "file with the issuers of OpenID Connect by which people can sign in; see "
        "[operating.md](operating.md#sign-in-of-an-organisation)",
    ),
    "SIGN_IN_ISSUERS_ONLY": (
        "`no`",
        "`yes`: people sign in and up by these issuers alone, not by passwords or passkeys",
    ),
    "SIGN_IN_ISSUERS_LOOPBACK": ("`no`", "whether these issuers may be on this machine, and speak http"),
    "STAFF_SECOND_FACTOR": (
        "`no` on localhost, else `yes`",
        "whether staff need a second factor for the admin and the admin API",
    ),
    "LIMITED_FEDERATION": (
        "`no`",
        "`yes` federates only with servers that staff have allowed, in secure mode. "
        "Without it staff choose in the administration",
    ),
    "AUTHORIZED_FETCH": (
        "`no`",
        "secure mode: `yes` answers other servers only when they sign who asks, so that blocks hold for reading too; some "
        "software cannot read posts from here then",
    ),
    "DISABLE_FOLLOWERS_SYNCHRONIZATION": (
        "`no`",
        "`yes` neither tells other servers which of their people follow somebody here, nor believes what they tell",
    ),
    "FEDERATION_LOOPBACK": (
        "`no`",
        "`yes` lets servers on this machine federate over http; refused for other domains",
    ),
    "ALLOWED_PRIVATE_ADDRESSES": ("none", "private networks other servers may be fetched from, on an intranet"),
    "TRUSTED_PROXIES": ("none", "addresses or networks whose `X-Forwarded-For` is believed"),
    "RATE_LIMITS": ("`on`", "`off` for load tests"),
    "EMAIL_URL": ("files in `DATA_DIR/mail`", "`smtp+tls://user:password@host:587`"),
    "MAIL_FROM": (
        "`notifications@LOCAL_DOMAIN`",
        "sender of the mails; without a name, as in `Name <name@social.example>`, it has the name of the server",
    ),
    "MEDIA_STORAGE": (
        "`DATA_DIR/media`",
        "object storage for uploaded files: `s3+https://KEY:SECRET@s3.example.com/bucket?region=eu-central-1`; "
        "`&addressing=virtual` for names of buckets in front of the host, `&acl=public-read` where no policy of the bucket "
        "lets everybody read",
    ),
    "MEDIA_BASE_URL": (
        "the bucket, or `/system/`",
        "address of uploaded files, if it is another one, such as `https://files.social.example`",
    ),
    "MEDIA_SCANNER": (
        "none",
        "what looks at uploads and at copies of files before they are shown: `https://scanner.example/scan`, or "
        "`command:clamdscan --no-summary -`; see [media.md](media.md)",
    ),
    "MEDIA_SCANNER_LOOPBACK": ("`no`", "whether the address in `MEDIA_SCANNER` may be this machine's"),
    "TRANSLATION_SERVICE": (
        "none",
        "service that translates posts: `libretranslate+https://KEY@translate.example` (`KEY@` only if it asks for one), or "
        "`deepl+https://KEY@api-free.deepl.com`; see [operating.md](operating.md#translation)",
    ),
    "TRANSLATION_SERVICE_LOOPBACK": ("`no`", "whether the address in `TRANSLATION_SERVICE` may be this machine's"),
    "WEB_CLIENT": (
        "none",
        "folder with a static web client, such as Phanpy or Elk, which is served at `/app/`; see "
        "[operating.md](operating.md#a-web-client-of-your-choice)",
    ),
    "KEEP_ADDRESSES_DAYS": (
        "`365`",
        "days for which the network addresses of sign-ups and of unused sessions are kept, which end then; `0`: for ever",
    ),
    "KEEP_AUDIT_LOG_DAYS": ("`0`", "days for which the audit log is kept, 30 at least; `0`: for ever"),
    "KEEP_CLOSED_REPORTS_DAYS": ("`0`", "days for which settled reports are kept; `0`: for ever"),
    "KEEP_HELD_POSTS_DAYS": (
        "`90`",
        "days after which a post that is held for review, and that nobody has decided about, is discarded; `0`: never",
    ),
    "KEEP_REMOTE_POSTS_DAYS": (
        "`0`",
        "days after which posts of other servers that nobody here needs are removed, 7 at least; `0`: never; see "
        "[operating.md](operating.md#posts-of-other-servers). Without it staff choose in the administration",
    ),
    "REMOTE_POSTS_LIMIT": (
        "`0`",
        "number of the newest posts of other servers beyond which older ones that nobody here needs are removed; `0`: any "
        "number. Without it staff choose in the administration",
    ),
    "KEEP_NOTIFICATIONS_DAYS": ("`0`", "days for which notifications are kept; `0`: for ever"),
    "REMOTE_MEDIA_MEGABYTES": (
        "`10240`",
        "room for copies of files of other servers; those that nobody has looked at for longest go first. "
        "Without it staff choose in the administration",
    ),
    "DEFAULT_LANGUAGE": (
        "`en`",
        "language for people who have chosen none: `en`, `de`, `ar`. Without it staff choose in the administration",
    ),
    "LOG_FORMAT": ("`console`; `json` for a process that runs on its own", "`json` for programs, `console` for people"),
    "LOG_LEVEL": ("`info`", "`debug`, `info`, `warning`, `error`"),
    "ACCESS_LOG": ("`yes` with `LOG_LEVEL=debug`, else `no`", "`yes` logs each request, but for `/health`"),
    "CHECKED_ANSWERS": (
        "`0` (none)",
        "one answer of so many of a web process is compared with the OpenAPI document; differences are logged, without "
        "values",
    ),
    "SENTRY_DSN": (
        "none",
        "where errors are reported, redacted: `https://key@sentry.example/1`; needs `requirements/observability.txt`",
    ),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "none",
        "OpenTelemetry collector that gets traces of requests, tasks and fetches, without addresses and bodies: "
        "`http://127.0.0.1:4318`; needs `requirements/observability.txt`",
    ),
    "METRICS_TOKEN": ("loopback callers only", "bearer token for `/metrics`, of 16 characters at least"),
    "SECRET_KEY": _SECRET,
    "SECRET_KEY_FALLBACKS": (
        "`secrets.json`",
        "former secret keys, separated by commas, with which sessions and links stay valid: `manage.py rotate_secrets`",
    ),
    "VAPID_PRIVATE_KEY": _SECRET,
    "VAPID_PUBLIC_KEY": _SECRET,
    "FIELD_ENCRYPTION_KEYS": _SECRET,
}
