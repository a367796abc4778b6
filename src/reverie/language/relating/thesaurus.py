"""Words that are one word here, and the few attributes of a person that are said in quite different words."""

from __future__ import annotations

import re

_SAME = (
    "answer answers explanation explanations reply replies response responses",
    "database databases db datenbank",
    "repository repositories repo repos",
    "documentation docs doc",
    "configuration config configs settings",
    "mail mails email emails e-mail",
    "close closes closed closing shut shuts schließt zumacht",
    "child children kid kids baby babies",
    "staff employee employees personnel",
    "licence licences license licenses licensed",
    "doctor physician gp",
    "bike bikes bicycle bicycles",
    "movie movies film films",
    "begin begins start starts commence",
    "buy buys bought purchase purchases purchased",
    "delete deletes remove removes",
    "mother mum mom",
    "father dad",
    "flat flats apartment apartments",
    "car cars vehicle vehicles",
    "photo photos picture pictures pic pics",
    "sofa couch",
    "shop shops store",
    "lawyer attorney",
    "colour color colours colors",
    "holiday holidays vacation vacations",
    "autumn fall",
    "job position post",
    "salary wage wages pay",
    "meeting meetings",
    "deploy deploys deployment deployments deployed",
    "setup install installation",
    "bug bugs defect defects",
    "holder owner",
    "picture image images",
    "function functions method methods",
    "cost costs price prices priced",
    "spend spends spent spending",
    "garbage trash rubbish",
    "lift elevator",
    "kilo kilos kg",
    "grocery groceries",
    "temperature temp",
    "journey trip trips",
    "illness disease",
    "dinner supper",
    "brief short concise",
    "maximum max limit cap",
    "minimum min",
    "credentials password passwords",
    "increase increased raise raised",
    "teacher tutor instructor",
    "run runs running ran runner",
    "swim swims swimming swam",
    "weigh weighs weight",
    "write writes writing wrote written",
    "drive drives driving drove",
    "sleep sleeps sleeping slept",
    "speak speaks spoke speaking",
    "read reads reading",
    "eat eats eating ate",
    "drink drinks drinking drank",
    "send sends sending sent",
    "keep keeps kept",
    "hold holds held",
    "lead leads led",
    "build builds built",
    "choose chooses chose chosen",
    "pet pets",
    "maintain maintains maintained maintainer",
    "use uses used using",
)

CANONICAL: dict[str, str] = {word: line.split()[0] for line in _SAME for word in line.split()}

_ATTRIBUTES = {
    "home": "live lives living lived resident reside resides wohne wohnt vivo vive habite 住在 搬到",
    "employer": "employer employed job company colleagues hired joined arbeite trabajo trabaja travaille",
    "diet": "vegetarian vegan meat pescatarian omnivore",
    "civil status": "married single divorced engaged widowed verheiratet soltero casado marié",
    "form of address": "geduzt duzen siezen du sie tutear usted tutoyer vouvoyer tú vous",
    "record": "best record beat beating pb fastest longest highest peaked peak",
    "choice": "prefer prefers preferred rather sooner favourite favorite préfère prefiero prefiere bevorzuge lieber"
    " prefiro",
    "name": "called named name renamed heißt llama s'appelle",
    "language of answers": "answer reply respond antworte responde réponds",
}
_SPEAKER_MOVED = (
    r"\b(?:i|i've|i'm|we|we've|user|me he|me|nos hemos|ich bin|wir sind|je me suis|j'ai|nous avons) (?:[^\W\d]+ ){0,3}"
    r"(?:moved|relocated|mudé|mudado|mudamos|umgezogen|déménagé)\b"
)
ATTRIBUTE_PHRASES = (
    (re.compile(_SPEAKER_MOVED), "home"),
    (re.compile(r"\bworks? (?:at|for)\b|\bnew job\b|\bjob at\b|\bstart(?:ed)? at\b"), "employer"),
    (re.compile(r"\bcall me\b|\bbe called\b|\bmy name is\b"), "form of address"),
    (re.compile(r"\b(?:down|up) to \d+(?:[.,]\d+)? ?(?:kg|kilos|pounds|lbs)\b|\bweighs?\b"), "weight"),
)
SINGLE = frozenset({"record", "weight", "home", "civil status", "form of address"})  # there is one at a time
ATTRIBUTE: dict[str, str] = {word: name for name, words in _ATTRIBUTES.items() for word in words.split()}
