"""Tests of the character set in which pages are decoded, whichever source declares it (WHATWG Encoding and HTML)."""

import codecs
import random
import time
from typing import Any

import pytest

from social.kernel.text import charsets
from social.kernel.text.charsets import decode_page

RUSSIAN = "Новости города: мэр открыл библиотеку"
JAPANESE = "図書館の新しい建物が駅前に開館しました"
KOREAN = "시장이 광장에서 새 도서관을 개관했습니다"
CHINESE = "市长在广场上宣布新图书馆开放"
TAIWANESE = "市長在廣場上宣布新圖書館開放"
THAI = "ข่าวภาษาไทย"
#: Labels of encodings, with the Python codec that has the standard's characters, and a text with characters that are easily
#: lost.
LABELS = {
    "utf-8": ("utf-8", RUSSIAN),
    "windows-1251": ("cp1251", RUSSIAN),
    "x-cp1251": ("cp1251", RUSSIAN),
    "koi8-r": ("koi8-r", RUSSIAN),
    "koi8-u": ("koi8-u", "Новини міста"),
    "iso-8859-5": ("iso8859-5", RUSSIAN),
    "ibm866": ("cp866", RUSSIAN),
    "x-mac-cyrillic": ("mac-cyrillic", "новости города"),
    "Shift_JIS": ("cp932", "①ニュース㈱"),
    "x-sjis": ("cp932", JAPANESE),
    "Windows-31J": ("cp932", JAPANESE),
    "ms_kanji": ("cp932", JAPANESE),
    "EUC-JP": ("euc_jis_2004", "①ニュース㈱"),
    "x-euc-jp": ("euc_jp", JAPANESE),
    "ISO-2022-JP": ("iso2022_jp", JAPANESE),
    "euc-kr": ("cp949", "똠방각하"),
    "ks_c_5601-1987": ("cp949", KOREAN),
    "gb2312": ("gb18030", "朱镕基 㐀"),
    "gbk": ("gb18030", CHINESE),
    "gb18030": ("gb18030", CHINESE),
    "big5": ("big5hkscs", TAIWANESE),
    "x-x-big5": ("big5hkscs", TAIWANESE),
    "windows-874": ("cp874", THAI),
    "tis-620": ("cp874", THAI),
    "iso-8859-1": ("cp1252", "“Größe” – 5 €"),
    "latin1": ("cp1252", "“Größe”"),
    "us-ascii": ("cp1252", "“Größe”"),
    "iso-8859-2": ("iso8859-2", "Zażółć gęślą"),
    "iso-8859-15": ("iso8859-15", "5 €"),
    "windows-1255": ("cp1255", "חדשות"),
    "iso-8859-8-i": ("iso8859-8", "חדשות"),
    "windows-1256": ("cp1256", "أخبار"),
    "macintosh": ("mac-roman", "Größe"),
}


def page(text: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}<title>{text}</title></head><body></body></html>"


@pytest.mark.parametrize("label", LABELS)
def test_labels_of_encodings_have_the_same_meaning_as_in_browsers(label: str) -> None:
    codec, text = LABELS[label]
    declared = page(text, f"<meta charset={label}>").encode(codec)
    pragma = page(text, f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={label}">').encode(codec)
    assert text in decode_page(declared, "text/html")
    assert text in decode_page(pragma, "text/html")
    assert text in decode_page(page(text).encode(codec), f'text/html; charset="{label}"')
    assert text in decode_page(
        f'<?xml version="1.0" encoding="{label}"?>'.encode() + page(text).encode(codec), "text/html"
    )


def test_iso_2022_jp_includes_the_characters_of_nec() -> None:
    pairs = bytes(byte & 0x7F for byte in "①㈱".encode("euc_jis_2004"))
    body = b"<meta charset=iso-2022-jp><title>\x1b$B" + pairs + b"\x1b(B</title>"
    assert "①㈱" in decode_page(body, "text/html")


@pytest.mark.parametrize(
    "head",
    [
        f"<script>{'var a=1;' * 1000}</script><meta charset=windows-1251>",
        "<!-- <meta charset=shift_jis> --><meta charset=windows-1251>",
        "<script>'<meta charset=shift_jis>'</script><meta charset=windows-1251>",
        "<meta name=description content='charset=shift_jis'><meta charset=windows-1251>",
        "<meta charset=nonsense><meta charset=windows-1251>",
        "<meta charset = ' windows-1251 '>",
        "<meta content='text/html;charset=\"windows-1251\"' http-equiv=content-type>",
        "<meta charset=utf-8 name=x content='a>b'>".replace("utf-8", "windows-1251"),
    ],
    ids=["late", "comment", "script", "other-meta", "unknown", "blanks", "quoted", "angle"],
)
def test_a_declaration_is_found_anywhere_in_a_page_and_lookalikes_are_ignored(head: str) -> None:
    assert RUSSIAN in decode_page(page(RUSSIAN, head).encode("cp1251"), "text/html")


def test_the_byte_order_mark_precedes_the_header_and_the_declaration() -> None:
    lying = page(RUSSIAN, "<meta charset=shift_jis>")
    assert RUSSIAN in decode_page(lying.encode("cp1251"), "text/html; charset=windows-1251")
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        found = decode_page(mark + lying.encode(codec), "text/html; charset=windows-1251")
        assert found == lying
    assert RUSSIAN in decode_page(page(RUSSIAN, "<meta charset=utf-16>").encode(), "text/html"), (
        "the declaration itself was readable as ASCII"
    )
    declaration = '<?xml version="1.0" encoding="windows-1251"?>'
    assert RUSSIAN in decode_page((declaration + lying).encode("cp1251"), "application/xhtml+xml")


def test_broken_bytes_do_not_affect_the_rest_of_a_page() -> None:
    whole = page("Lüneburg — größte").encode()
    broken = whole.replace(b"</title>", b"\xc3</title>")
    assert "Lüneburg — größte" in decode_page(broken, "text/html")
    assert "Lüneburg — größte" in decode_page(broken, "text/html; charset=utf-8")
    cut = page(RUSSIAN, "<meta charset=utf-8>").encode().partition(b"</title>")[0][:-1]
    assert RUSSIAN[:-1] in decode_page(cut, "text/html")


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1251", RUSSIAN),
        ("cp1251", "Привет"),
        ("koi8-r", RUSSIAN),
        ("iso8859-5", RUSSIAN),
        ("cp866", RUSSIAN),
        ("cp932", JAPANESE),
        ("cp932", "日本語のニュース"),
        ("euc_jp", JAPANESE),
        ("euc_jp", "ニュース"),
        ("iso2022_jp", JAPANESE),
        ("cp949", KOREAN),
        ("gb18030", CHINESE),
        ("gb18030", "中文新闻"),
        ("big5hkscs", TAIWANESE),
        ("cp874", THAI),
        ("cp1252", "Die Bürgermeisterin eröffnet die neue Bücherei"),
        ("cp1252", "Köln"),
        ("cp1252", "Café déjà vu"),
        ("cp1250", "Zażółć gęślą jaźń"),
        ("iso8859-2", "Zażółć gęślą jaźń"),
        ("cp1253", "Ο δήμαρχος άνοιξε τη νέα βιβλιοθήκη"),
        ("cp1255", "חדשות בעברית"),
        ("cp1256", "افتتح رئيس البلدية المكتبة الجديدة في الساحة"),
        ("utf-8", RUSSIAN),
    ],
)
def test_the_encoding_of_a_page_without_a_declaration_is_detected(codec: str, text: str) -> None:
    assert text in decode_page(page(text).encode(codec), "text/html")


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        *(("cp1252", text) for text in ("Äiti söi jäätelöä", "Hääpäivä", "Räksmörgås på ön", "Þjóðviljinn: fréttir")),
        ("iso8859-2", "Wiadomości z kraju i ze świata"),
    ],
)
def test_encodings_that_browsers_never_guess_are_not_detected_from_a_few_words(codec: str, text: str) -> None:
    assert text in decode_page(page(text).encode(codec), "text/html")


@pytest.mark.parametrize(
    ("language", "codec", "text"),
    [
        ("tr", "cp1254", "Türkiye'de yaşam"),
        ("lt", "cp1257", "Žinių radijas"),
        ("lv-LV", "cp1257", "Rīgas domes vēlēšanas"),
        ("PL", "cp1250", "Wiadomości z kraju i ze świata"),
        ("cs", "iso8859-2", "Zprávy z domova a ze světa"),
        ("ru", "koi8-r", "Погода в Москве на неделю"),
        ("uk", "koi8-u", "Їжак і ґанок: новини"),
        ("ja", "euc_jp", "今日の天気"),
        ("en", "cp1251", RUSSIAN),
        ("ja", "cp1251", RUSSIAN),
        ("xx", "cp949", KOREAN),
    ],
)
def test_among_possible_encodings_one_of_the_language_of_the_page_is_preferred(
    language: str, codec: str, text: str
) -> None:
    body = page(text).replace("<html>", f'<html dir=ltr lang="{language}">').encode(codec)
    assert text in decode_page(body, "text/html")


def test_a_space_before_the_charset_in_a_header_is_ignored() -> None:
    assert "Їжак" in decode_page(page("Їжак").encode("koi8-u"), "text/html; charset= koi8-u ; x=y")


@pytest.mark.parametrize("begin", ["", "<pre>", "<script>a()</script>\n" * 3000, "a " * 40_000])
@pytest.mark.parametrize(("codec", "text"), [("cp1251", RUSSIAN), ("cp932", JAPANESE), ("euc_jp", JAPANESE)])
def test_the_encoding_of_a_long_page_is_detected_from_its_first_words_beyond_ascii(
    begin: str, codec: str, text: str
) -> None:
    whole = begin + (text + "\n") * 2000
    assert decode_page(whole.encode(codec), "text/html") == whole


@pytest.mark.parametrize(
    "body",
    [
        random.Random(1).randbytes(1 << 20),
        b"<" * (1 << 20) + b"\xff",
        b"<meta charset=x>" * 60_000,
        "日本".encode("cp932") * 200_000,
        b"\x1b$B" * 300_000,
        b" " * (1 << 20) + b"\xe9",
        b"",
        b"\xfe",
    ],
    ids=["noise", "angles", "metas", "undeclared", "escapes", "blanks", "nothing", "one"],
)
def test_row_33_decoding_any_page_takes_limited_time(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    detect = charsets.from_bytes

    def seen(sample: bytes, **options: Any) -> Any:
        looked_at.append(len(sample))
        return detect(sample, **options)

    monkeypatch.setattr(charsets, "from_bytes", seen)
    began = time.process_time()
    assert isinstance(decode_page(body, "text/html"), str)
    assert time.process_time() - began < 5
    assert sum(looked_at) <= 32 * 1024
