"""Identity of this server, as its owner chose it: name, pictures, colour and style sheet, which every page shows."""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from django.conf import settings
from django.db import Error

from social.kernel.colours import Palette, make_palette
from social.kernel.ports import Port

logger = logging.getLogger("social.identity")

RELOAD_SECONDS: Final = 5.0  # seconds after which each process reads the identity again
ICON_SIZES: Final = (512, 192, 48)


@dataclass(frozen=True)
class Identity:
    """Name and look of this server, and other settings that many requests need; settings without a value are empty.

    `icons` and `favicons` map sizes in pixels to paths of stored files, `picture` is such a path, `colour` is `#rrggbb`.
    `registrations` says who may sign up ("open", "approval", "closed"), `language` is the language of people who have not
    chosen one. With `limited_federation` this server federates with allowed servers only; None until the identity is read.
    """

    title: str = ""
    description: str = ""
    picture: str = ""
    icons: Mapping[str, str] = field(default_factory=dict)
    favicons: Mapping[str, str] = field(default_factory=dict)
    colour: str = ""
    custom_css: str = ""
    registrations: str = ""
    language: str = ""
    limited_federation: bool | None = None

    @property
    def name(self) -> str:
        return self.title or settings.LOCAL_DOMAIN

    @cached_property
    def palette(self) -> Palette | None:
        return make_palette(self.colour) if self.colour else None

    @cached_property
    def stylesheet(self) -> str:
        """The server's colours and its owner's rules, usually empty. Pages load it after the common style sheet."""
        return _rules(self.palette) + self.custom_css

    @cached_property
    def version(self) -> str:
        """Digest of the style sheet; empty if the style sheet is empty."""
        return hashlib.sha256(self.stylesheet.encode()).hexdigest()[:12] if self.stylesheet else ""


source: Final[Port[Callable[[], Identity]]] = Port("social.kernel.identity.source")
_kept: tuple[float, Identity] = (float("-inf"), Identity())


def current_identity() -> Identity:
    """Return the identity, read at most RELOAD_SECONDS ago, or earlier if the database does not answer."""
    global _kept
    read_at, identity = _kept
    load = source.find()
    if load is not None and time.monotonic() - read_at > RELOAD_SECONDS:
        try:
            identity = load()
        except Error as error:
            logger.warning("the identity of this server could not be read: %s", error)
        _kept = (time.monotonic(), identity)
    return identity


def known_identity() -> Identity:
    """Return the identity that this process read last, however old it is. Makes no query, so that error pages can use it."""
    return _kept[1]


def default_language() -> str:
    return current_identity().language or settings.LANGUAGE_CODE


def is_federation_limited() -> bool:
    """Tell whether this server federates with allowed servers only."""
    limited = current_identity().limited_federation
    return bool(settings.LIMITED_FEDERATION if limited is None else limited)


def forget_identity() -> None:
    """Discard the identity after a change, so that the next request reads it again."""
    global _kept
    _kept = (float("-inf"), _kept[1])


def _rules(palette: Palette | None) -> str:
    if palette is None:
        return ""
    light, dark = (
        f"--accent:{theme.accent};--accent-over:{theme.accent_over};--on-accent:{theme.on_accent};--tint:{theme.tint}"
        for theme in (palette.light, palette.dark)
    )
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
