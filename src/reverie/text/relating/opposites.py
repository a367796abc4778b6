"""Words that pull a statement to one side or the other. An axis has a plus side and a minus side.

`like` is an axis of attitude: its words say how someone stands to a thing and are no part of what the thing is.
"""

from __future__ import annotations

import re

# Attitude phrases of more than one word, taken out before the single words are read: (pattern, axis, sign).
PHRASES: tuple[tuple[re.Pattern[str], str, int], ...] = tuple(
    (re.compile(pattern), axis, sign)
    for pattern, axis, sign in (
        (
            r"\b(?:must |should |may |can )?not (?:be )?"
            r"(?:longer|more|larger|bigger|higher|greater|later|exceed)\w*(?: than)?\b",
            "",
            0,
        ),
        (r"\bno (?:more|longer|later|fewer|less) than\b", "", 0),
        (r"\bist(?: \w+)? zu\b(?=[.,;]|$)|\bmacht (?:\w+ ){1,3}zu\b", "open", -1),
        (r"\b(?:can't|cannot|can not|couldn't) stand\b", "like", -1),
        (r"\bnot (?:for me|my thing|a fan of)\b", "like", -1),
        (r"\b(?:done with|sick of|tired of|gone off|fed up with|had enough of|over it)\b", "like", -1),
        (r"\b(?:fond of|fan of|keen on|into)\b(?= \w)", "like", 1),
        (
            r"\b(?:lost|losing) (?:my|the|all|his|her) (?:taste|interest|love|appetite|patience)(?: for| in| with)?\b",
            "like",
            -1,
        ),
        (r"\b(?:gets?|getting|got) on my nerves\b|\bdrives? me (?:crazy|mad|up the wall)\b|\bnot into\b", "like", -1),
        (
            r"\b(?:annoys?|distracts?|bores?|stresses?|tires?|disgusts?|bothers?) me\b"
            r"|\b(?:find|found) (?:\w+ ){1,3}(?:hard|annoying|boring|awful|tiring)\b",
            "like",
            -1,
        ),
        (
            r"\b(?:can't|couldn't|cannot) get enough of\b|\bcome (?:a)?round to\b"
            r"|\bgrown to (?:like|love)\b|\bhooked on\b",
            "like",
            1,
        ),
        (r"\b(?:keep|keeps|kept|stay|stays|leave|left) (?:\w+ ){0,3}out\b|(?<=\w)-free\b", "not", -1),
        (r"\b(?:can|could) do without\b|\b(?:rather|prefer) not\b|\bspare me\b|\bdoesn't do it for me\b", "like", -1),
        (
            r"\bmakes? me (?:sick|nervous|anxious|tired|angry)\b|\bstopped (?:liking|enjoying|eating|drinking)\b",
            "like",
            -1,
        ),
        (r"\bfree (?:of|from)\b(?! charge)", "not", -1),
        (r"\boff\b(?= ?[.;,!]|$)", "enabled", -1),
        (r"\bon\b(?= ?[.;,!]|$)", "enabled", 1),
        (r"\bout of order\b", "work", -1),
        (r"\b(?:switched|turned) off\b", "enabled", -1),
        (r"\b(?:switched|turned) on\b", "enabled", 1),
        (r"\bno (?:more|longer)\b", "not", -1),
        (r"\bany ?more\b", "", 0),
        (r"^(?:please )?(?:stop|quit) (?=\w+ing\b)", "not", -1),
        (r"\bleave (?=(?:\w+ ){1,4}out\b)", "not", -1),
        (r"\bnicht mehr\b|\bya no\b", "not", -1),
        (r"不再|不是|不要|没有|不|没|别", "not", -1),
    )
)

ANY_PHRASE = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _, _ in PHRASES))

ATTITUDE = "like"

# On these axes the minus side is a plain no: "forbidden" is "not allowed", "broken" is "does not work".
PLAIN_NO = frozenset({"allow", "enabled", "open", "work", "include"})

_AXES: dict[str, tuple[str, str]] = {
    "like": (
        "like likes liked love loves loved enjoy enjoys enjoyed prefer prefers preferred adore adores favourite"
        " favorite"
        " appreciate appreciates mag liebe gern gerne gusta gustan encanta prefiero prefiere aime j'aime adore préfère",
        "dislike dislikes disliked hate hates hated avoid avoids detest loathe despise hasse odio detesto déteste",
    ),
    "allow": (
        "allowed allow allows permitted permit permits welcome may optional erlaubt permitido autorisé",
        "forbidden forbid forbids banned ban bans prohibited disallowed verboten prohibido interdit refuse refused",
    ),
    "enabled": ("enabled enable enables activated active", "disabled disable disables deactivated inactive"),
    "open": (
        "open opens opened offen geöffnet abierto abierta ouvert",
        "closed shut geschlossen cerrado cerrada fermé",
    ),
    "work": ("works working functional fixed online", "broken fails failing offline defekt kaputt roto cassé"),
    "long": (
        "long longer detailed verbose lengthy largas largos larga lang ausführlich longues",
        "short shorter brief concise terse succinct cortas cortos corta kurz courtes",
    ),
    "light": ("light bright", "dark"),
    "first": ("first beforehand earlier", "later afterwards last"),
    "spicy": ("spicy hot chili chilli strong scharf scharfes picante", "mild bland weak"),
    "with": ("with mit con avec", "without ohne sin sans"),
    "include": ("include includes included including", "exclude excludes excluded excluding omit omits omitted skip"),
    "public": ("public shared", "private confidential"),
    "auto": ("automatic automatically automated auto", "manual manually hand"),
    "remote": ("remote remotely home-office", "on-site onsite in-person"),
    "day": ("morning noon daytime mornings daily", "night nights evening evenings nightly"),
    "inside": ("inside indoors indoor", "outside outdoors outdoor"),
    "married": ("married wife husband", "single divorced unmarried"),
    "meat": ("meat steak beef pork", "vegetarian vegan"),
    "more": ("more increase increased higher bigger", "less decrease decreased lower smaller fewer"),
    "formal": ("formal formally sie usted vous", "informal informally casual du tú tu geduzt"),
    "metric": ("metric celsius kilometres kilometers kilograms", "imperial fahrenheit miles"),
    "accept": ("accept accepts accepted approve approves approved", "reject rejects rejected decline declined"),
    "always": ("always", "rarely seldom"),
    "full": ("full", "empty part-time"),
    "start": ("start starts begin begins", "stop stops"),
    "quiet": ("quiet silent muted", "loud noisy"),
    "cheap": ("cheap affordable", "expensive pricey"),
    "required": ("required mandatory compulsory necessary", "unnecessary needless"),
    "sync": ("synchronous sync", "asynchronous async"),
    "left": ("left", "right"),
    "single": ("singular", "plural"),
    "tabs": ("tabs", "spaces"),
    "utc": ("utc", "local"),
    "top": ("top beginning", "bottom end"),
    "firm": ("firm hard hart", "soft weich"),
    "write": ("write text", "call calls phone"),
}

SIDES: dict[str, tuple[str, int]] = {
    word: (axis, sign)
    for axis, sides in _AXES.items()
    for sign, side in zip((1, -1), sides, strict=True)
    for word in side.split()
}

# Two different words of one set name different things of one kind: a change of one is a change of subject or scope,
# unless nothing else in the statement changed.
_CONTRASTS = (
    "summer winter spring autumn fall sommer winter verano invierno été hiver",
    "prod production dev development staging stage test testing qa local preview",
    "home work office school heim arbeit casa trabajo oficina maison bureau",
    "weekday weekdays weekend weekends",
    "laptop desktop phone tablet server workstation",
    "brother sister mother father mum mom dad aunt uncle cousin wife husband son daughter grandmother grandfather"
    " grandpa grandma granny grandson granddaughter nephew niece stepfather stepmother girlfriend boyfriend fiancé"
    " roommate flatmate landlord oma opa neffe nichte abuelo abuela sobrino sobrina nieto irmão irmã pai mãe filho"
    " filha partner boss colleague friend neighbour neighbor kids colleagues customers bruder schwester mutter vater"
    " tante onkel cousine frau mann sohn tochter hermano hermana madre padre tía tío primo prima hijo hija frère soeur"
    " sœur"
    " mère père oncle fils fille cousin cousine",
    "admin admins viewer viewers guest guests editor editors member members owner owners moderator contractors"
    " employees staff",
    "frontend backend mobile web ios android",
    "kitchen bathroom bedroom garage garden cellar attic hallway",
    "front back left right upper lower north south east west",
    "internal external",
    "morning evening afternoon night mornings evenings nights",
    "upstairs downstairs",
    "breakfast lunch dinner",
    "minors adults children",
    "metric imperial",
    "litres gallons pints",
    "milliseconds seconds minutes hours days weeks months years",
    "bytes kilobytes megabytes gigabytes mb gb kb",
    "utc cet gmt est pst local bst cest",
    "euro euros dollar dollars franc francs pounds yen usd eur gbp chf",
    "knots km/h mph",
    "kilograms grams pounds stone kilos ounces",
    "miles kilometres kilometers metres feet yards",
    "slack teams discord mattermost zulip telegram whatsapp signal",
    "github gitlab bitbucket codeberg gitea",
    "postgres postgresql mysql sqlite mariadb mongodb oracle",
    "npm pnpm yarn bun",
    "vim emacs vscode neovim zed",
    "jira linear trello asana youtrack",
    "linux windows macos ubuntu debian fedora",
    "tea coffee espresso decaf water",
    "train car bus plane bicycle tram",
    "email mail sms chat post letter fax",
    "table tables prose bullets paragraphs",
    "monday tuesday wednesday thursday friday",
    "aisle window",
    "vegetarian vegan pescatarian",
    "singular plural",
    "snake_case camelcase pascalcase",
    "tabs spaces",
    "merge squash rebase",
    "unit integration",
    "small big large",
    "red blue green yellow black white grey gray brown orange",
    "python typescript javascript java go rust ruby php kotlin swift haskell",
    "german dutch french english spanish italian swiss austrian british american japanese chinese",
    "cat dog bird horse katze hund gato perro chat chien",
)

_PEOPLE = next(number for number, line in enumerate(_CONTRASTS) if "brother" in line)
KIND_OF: dict[str, int] = {word: number for number, line in enumerate(_CONTRASTS) for word in line.split()}
PEOPLE = frozenset(word for word, kind in KIND_OF.items() if kind == _PEOPLE)
