"""The sign-up captcha, read from CAPTCHA_SERVICE and CAPTCHA_SCRIPT."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_SCRIPT: Final = "https://js.hcaptcha.com/1/api.js"


@dataclass(frozen=True)
class Captcha:
    """Service with hCaptcha's protocol: `verify_url` tells whether an answer is right, `script_url` is its widget's script."""

    site_key: str
    secret: str
    verify_url: str
    script_url: str

    @property
    def sources(self) -> tuple[str, ...]:
        """Origins of the widget, as sources of a Content-Security-Policy."""
        parts = urlsplit(self.script_url)
        if f".{parts.hostname}".endswith(".hcaptcha.com"):
            return ("https://hcaptcha.com", "https://*.hcaptcha.com")
        return (f"{parts.scheme}://{parts.netloc}",)


def read_captcha(service: str, script: str) -> Captcha | None:
    """Return the captcha of `hcaptcha+https://SITEKEY:SECRET@host/path`; None for an empty text. Raises
    ImproperlyConfigured, whose message quotes no secret.
    """
    if not service:
        return None
    script = script or _SCRIPT
    try:
        parts, widget = urlsplit(service), urlsplit(script)
        kind, _plus, scheme = parts.scheme.partition("+")
        fine = kind == "hcaptcha" and scheme in ("https", "http") and bool(parts.hostname and parts.path.strip("/"))
        fine = fine and bool(parts.username and parts.password) and not (parts.query or parts.fragment)
        fine = fine and widget.scheme in ("https", "http") and bool(widget.hostname) and '"' not in script
        _ = parts.port, widget.port
    except ValueError:
        fine = False
    if not fine:
        raise ImproperlyConfigured(
            "CAPTCHA_SERVICE or CAPTCHA_SCRIPT cannot be understood. Write them as in "
            f"hcaptcha+https://SITEKEY:SECRET@api.hcaptcha.com/siteverify and {_SCRIPT}."
        )
    host = parts.netloc.rpartition("@")[2]
    site_key, secret = unquote(parts.username or ""), unquote(parts.password or "")
    return Captcha(site_key, secret, f"{scheme}://{host}{parts.path}", script)
