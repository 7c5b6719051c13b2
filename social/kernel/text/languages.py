"""Codes of the languages a post can be written in (ISO 639-1, and some of ISO 639-3), with their English names."""

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
CODES: Final = (*_ISO_639_1.split(), *_ISO_639_3.split(), *_REGIONAL)  # codes in the spelling in which they are stored
_CODES: Final = {code.lower(): code for code in CODES}


def known_language(code: str | None) -> str | None:
    """Return the stored spelling of a language code, which may be in upper or lower case, with `_` or `-`; None for a code that
    names no language.

    A longer code becomes its longest known beginning: `pt` for `pt-BR`, which is not in the list, and `zh-TW` for
    `zh-TW-x-private`.
    """
    if not code:
        return None
    wanted = code[:100].strip().replace("_", "-").lower()
    while wanted and wanted not in _CODES:
        wanted = wanted.rpartition("-")[0]
    return _CODES.get(wanted)


def choose_language(*codes: str | None) -> str | None:
    """Return the stored spelling of the first of `codes` that names a language; None if none of them does."""
    return next((found for found in map(known_language, codes) if found is not None), None)


_NAMES: Final = (
    "aa Afar|ab Abkhaz|ae Avestan|af Afrikaans|ak Akan|am Amharic|an Aragonese|ar Arabic|as Assamese|av Avaric|"
    "ay Aymara|az Azerbaijani|ba Bashkir|be Belarusian|bg Bulgarian|bh Bihari|bi Bislama|bm Bambara|bn Bengali|"
    "bo Tibetan|br Breton|bs Bosnian|ca Catalan|ce Chechen|ch Chamorro|co Corsican|cr Cree|cs Czech|cu Old Church Slavonic|"
    "cv Chuvash|cy Welsh|da Danish|de German|dv Divehi|dz Dzongkha|ee Ewe|el Greek|en English|eo Esperanto|"
    "es Spanish|et Estonian|eu Basque|fa Persian|ff Fula|fi Finnish|fj Fijian|fo Faroese|fr French|"
    "fy Western Frisian|ga Irish|gd Scottish Gaelic|gl Galician|gn Guarani|gu Gujarati|gv Manx|ha Hausa|he Hebrew|"
    "hi Hindi|ho Hiri Motu|hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian|hz Herero|ia Interlingua|"
    "id Indonesian|ie Interlingue|ig Igbo|ii Sichuan Yi|ik Inupiaq|io Ido|is Icelandic|it Italian|iu Inuktitut|"
    "ja Japanese|jv Javanese|ka Georgian|kg Kongo|ki Kikuyu|kj Kuanyama|kk Kazakh|kl Kalaallisut|km Khmer|kn Kannada|"
    "ko Korean|kr Kanuri|ks Kashmiri|ku Kurdish|kv Komi|kw Cornish|ky Kyrgyz|la Latin|lb Luxembourgish|lg Ganda|"
    "li Limburgish|ln Lingala|lo Lao|lt Lithuanian|lu Luba-Katanga|lv Latvian|mg Malagasy|mh Marshallese|mi Māori|"
    "mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese|my Burmese|na Nauru|nb Norwegian Bokmål|"
    "nd North Ndebele|ne Nepali|ng Ndonga|nl Dutch|nn Norwegian Nynorsk|no Norwegian|nr South Ndebele|nv Navajo|"
    "ny Chichewa|oc Occitan|oj Ojibwa|om Oromo|or Odia|os Ossetian|pa Punjabi|pi Pali|pl Polish|ps Pashto|"
    "pt Portuguese|qu Quechua|rm Romansh|rn Rundi|ro Romanian|ru Russian|rw Kinyarwanda|sa Sanskrit|sc Sardinian|"
    "sd Sindhi|se Northern Sami|sg Sango|si Sinhala|sk Slovak|sl Slovenian|sm Samoan|sn Shona|so Somali|sq Albanian|"
    "sr Serbian|ss Swati|st Southern Sotho|su Sundanese|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|"
    "ti Tigrinya|tk Turkmen|tl Tagalog|tn Tswana|to Tongan|tr Turkish|ts Tsonga|tt Tatar|tw Twi|ty Tahitian|"
    "ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|ve Venda|vi Vietnamese|vo Volapük|wa Walloon|wo Wolof|xh Xhosa|"
    "yi Yiddish|yo Yoruba|za Zhuang|zh Chinese|zu Zulu|ast Asturian|bar Bavarian|chr Cherokee|ckb Central Kurdish|"
    "cnr Montenegrin|csb Kashubian|fro Old French|gsw Swiss German|hsb Upper Sorbian|jbo Lojban|kab Kabyle|"
    "lad Ladino|ldn Láadan|lfn Lingua Franca Nova|lld Ladin|moh Mohawk|nds Low German|pdc Pennsylvania German|"
    "sco Scots|sjd Kildin Sami|sje Pite Sami|sju Ume Sami|sma Southern Sami|smj Lule Sami|smn Inari Sami|"
    "sms Skolt Sami|szl Silesian|tok Toki Pona|vai Vai|xal Kalmyk|zba Balaibalan|zgh Standard Moroccan Tamazight|"
    "zh-CN Chinese (China)|zh-HK Chinese (Hong Kong)|zh-TW Chinese (Taiwan)|zh-YUE Cantonese|"
    "mn-Mong Mongolian (traditional script)|ms-Arab Malay (Jawi)"
)
LANGUAGE_NAMES: Final = {code: name for code, _space, name in (entry.partition(" ") for entry in _NAMES.split("|"))}
"""Codes that `languages.known_language` returns, with their names."""
