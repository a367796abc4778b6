"""What a number can be a number of. Every unit is a dimension and a factor to that dimension's base unit."""

from __future__ import annotations

from reverie.text.words import in_order

_DIMENSIONS: dict[str, dict[float, str]] = {
    "duration": {
        0.001: "ms millisecond milliseconds msec",
        1: "s sec secs seconds sekunden segundos secondes 秒",
        60: "m min mins minute minutes minuten minuto minutos 分钟",
        3600: "h hr hrs hour hours stunde stunden hora horas heure heures ore 小时",
        86400: "day days tag tage tagen día días dia dias jour jours giorni 天",
        604800: "week weeks woche wochen semana semanas semaine semaines settimane",
        2629800: "month months monat monate monaten mes meses mois mesi mês",
        31557600: "year years yr yrs jahr jahre jahren año años ans année années anni anos",
    },
    "size": {
        1: "byte bytes",
        1e3: "kb kib kilobyte kilobytes",
        1e6: "mb mib megabyte megabytes",
        1e9: "gb gib gigabyte gigabytes",
        1e12: "tb tib terabyte terabytes",
    },
    "mass": {
        1: "g gram grams gramm gramos grammes",
        1000: "kg kgs kilo kilos kilogram kilograms",
        1e6: "ton tons tonne tonnes",
        453.6: "lb lbs pound pounds",
        28.35: "oz ounce ounces",
    },
    "length": {
        0.001: "mm",
        0.01: "cm centimetre centimetres centimeters",
        1: "metre metres meter meters",
        1000: "km kilometre kilometres kilometer kilometers kilómetros",
        1609.3: "mile miles mi",
        0.3048: "foot feet ft",
        0.0254: "inch inches",
    },
    "temperature": {1: "degrees degree grad grados degrés °c °f celsius fahrenheit °"},
    "percent": {1: "% percent prozent pct"},
    "money": {
        1: "$ usd dollar dollars",
        1.1: "€ eur euro euros",
        1.25: "£ gbp quid",
        1.15: "chf franc francs franken",
        0.14: "¥ yuan 元 yen",
    },
    "speed": {1: "mph kmh km/h mbps gbps"},
    "dozen": {1: "dozen"},
}

UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, factor)
    for dimension, scales in _DIMENSIONS.items()
    for factor, names in scales.items()
    for name in names.split()
}

_SMALL = in_order(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_GERMAN = in_order(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn zwanzig"
)
_SPANISH = in_order(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte"
)
_FRENCH = in_order(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
    " dix-neuf vingt"
)
_PORTUGUESE = in_order(
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis"
)
_ITALIAN = in_order(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
)
_TENS = {
    word: number
    for number, names in {
        21: "veintiuno",
        22: "veintidós",
        23: "veintitrés",
        24: "veinticuatro",
        25: "veinticinco",
        30: "thirty dreißig treinta trente trinta",
        40: "forty vierzig cuarenta quarante",
        50: "fifty fünfzig cincuenta cinquante",
        60: "sixty sechzig sesenta soixante",
        70: "seventy setenta",
        80: "eighty ochenta",
        90: "ninety noventa",
        100: "hundred hundert cien cent",
        1000: "mil mille",
    }.items()
    for word in names.split()
}
# Articles, pronouns, and words that another language uses for something else.
_AMBIGUOUS = {"uno", "un", "um", "once", "one", "six", "sei", "due", "elf", "neun", "null"}
NUMBER_WORDS: dict[str, int] = (
    {
        word: number
        for words in (_ITALIAN, _PORTUGUESE, _FRENCH, _SPANISH, _GERMAN, _SMALL)
        for number, word in enumerate(words)
        if word not in _AMBIGUOUS
    }
    | _TENS
    | {"six": 6, "neun": 9, "elf": 11, "couple": 2}
)

ORDINALS: dict[str, int] = {
    word: number
    for number, word in enumerate(
        in_order("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), 1
    )
}

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar enero janvier",
            "february feb februar febrero février",
            "march mar märz marzo mars",
            "april apr abril avril",
            "may mai mayo",
            "june jun juni junio juin",
            "july jul juli julio juillet",
            "august aug agosto août",
            "september sep sept septiembre septembre",
            "october oct oktober octubre octobre",
            "november nov noviembre novembre",
            "december dec dezember diciembre décembre",
        ),
        1,
    )
    for name in names.split()
}

WEEKDAYS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays mon montag montags lunes lundi lundis segunda-feira lunedì 周一 星期一",
            "tuesday tuesdays tue tues dienstag dienstags martes mardi mardis terça-feira martedì 周二 星期二",
            "wednesday wednesdays wed mittwoch mittwochs miércoles mercredi mercredis quarta-feira"
            " mercoledì 周三 星期三",
            "thursday thursdays thu thurs donnerstag donnerstags jueves jeudi jeudis quinta-feira giovedì 周四 星期四",
            "friday fridays fri freitag freitags viernes vendredi vendredis sexta-feira venerdì 周五 星期五",
            "saturday saturdays sat samstag samstags sábado sábados sabato samedi samedis 周六 星期六",
            "sunday sundays sun sonntag sonntags domingo domingos dimanche dimanches 周日 星期日 周天",
        )
    )
    for name in names.split()
}

PERIODS = {"day": 1.0, "week": 7.0, "month": 30.4, "quarter": 91.3, "year": 365.25, "hour": 1 / 24}
RHYTHMS = {
    word: days
    for days, names in {
        1 / 24: "hourly",
        1.0: "daily täglich",
        7.0: "weekly wöchentlich",
        14.0: "biweekly fortnightly",
        30.4: "monthly monatlich",
        91.3: "quarterly",
        365.25: "yearly annually",
    }.items()
    for word in names.split()
}

HAN_DIGITS = {digit: number for number, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
