"""Which codes name a language a post can be written in (ISO 639-1, and some of ISO 639-3 that people post in)."""

from __future__ import annotations

from typing import Final

_ISO_639_1: Final = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_ISO_639_3: Final = (
    "ast bar chr ckb cnr csb fro gsw hsb jbo kab lad ldn lfn lld moh nds pdc sco sjd sje sju sma smj smn sms szl tok "
    "vai xal zba zgh"
)
_REGIONAL: Final = ("zh-CN", "zh-HK", "zh-TW", "zh-YUE", "mn-Mong", "ms-Arab")
CODES: Final = (*_ISO_639_1.split(), *_ISO_639_3.split(), *_REGIONAL)
"""Every code as it is kept."""
_CODES: Final = {code.lower(): code for code in CODES}


def known_language(code: str | None) -> str | None:
    """The code as it is kept, in any spelling of `zh_tw` or `ZH-TW`; the plain language of `pt-BR`, whose region is none.

    None for what names no language.
    """
    if not code:
        return None
    wanted = code.strip().replace("_", "-").lower()
    return _CODES.get(wanted) or _CODES.get(wanted.partition("-")[0])


def choose_language(*codes: str | None) -> str | None:
    """The first of the codes that names a language: what was said, the user's own, the page's, the server's."""
    return next((found for found in map(known_language, codes) if found is not None), None)
