"""How junk sounds: phrases that open or fill an entry nobody needs tomorrow, in the languages we know.

Each group is one expression of alternatives. `OPENINGS` are tried at the beginning of a text, `WHOLE` is all of it.
A text that speaks of always, never or every time is a rule however it begins, so `LASTING` speaks for it.
"""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), _FLAGS)


LASTING = _any(
    r"\b(?:always|never|every|each|whenever|in future|from now on|prefers?|must|by default|unless|until"
    r"|all (?:of )?(?:his|her|their|the|my|our))\b",
    r"\b(?:should|only|instead of|rather than|not to|no longer|going forward|standing)\b",
    r"\b(?:immer|nie|niemals|jede[rsnm]?|künftig|ab jetzt|bevorzugt|stets|grundsätzlich)\b",
    r"\b(?:siempre|nunca|cada|a partir de ahora|prefiere|toujours|jamais|chaque|désormais|préfère)\b",
    r"\b(?:sempre|mai|ogni|d'ora in poi|preferisce|prefere|cada vez|altijd|nooit|elke|voortaan)\b",
    r"\b(?:всегда|никогда|каждый|каждую|предпочитает)\b",
    r"总是|每次|永远|以后|始终|必须|不要|都要|统一|偏好|喜欢|常に|必ず|毎回|今後|항상|매번",
)

_THERE = r"(?:[ ,]+(?:there|all|again|everyone|everybody|claude|hermes|assistant|so much|a lot|you|man|mate))?"
_HOW = (
    r"(?:[\s,!.…]*(?:how(?:'s| is| are)[^.!?\n]{0,20}|wie geht'?s[^.!?\n]{0,10}|come stai|cómo estás|ça va|tudo bem))?"
)
_GREETING = (
    r"hi+|hello|hey|hiya|howdy|good (?:morning|afternoon|evening|night)|morning|thanks?|thank you|thx|cheers|bye"
    r"|goodbye"
    r"|ok(?:ay)?|cool|nice|great|perfect|sounds good|got it|yes|yep|no problem"
    r"|hallo|guten (?:morgen|tag|abend)|moin|servus|danke(?: schön| dir)?|tschüss|hola|buenos días|gracias|adiós|vale"
    r"|bonjour|salut|merci(?: beaucoup)?|bonsoir|olá|oi|obrigad[oa]|bom dia|ciao|buongiorno|grazie(?: mille)?"
    r"|hoi|dank je(?: wel)?|bedankt|goedemorgen|привет|здравствуйте|спасибо|пока|hej|tack"
    r"|你好|您好|谢谢|好的|再见|早上好|嗯|こんにちは|ありがとう(?:ございます)?|おはよう|はい|안녕하세요|감사합니다"
)
GREETING = _any(rf"(?:{_GREETING}){_THERE}(?:[\s,，、!！.。]+(?:{_GREETING})){{0,2}}{_HOW}[\s!！.。?？…]*")
REPLY = _any(
    r"(?:thanks?|thank you|danke|gracias|merci|obrigad[oa]|perfect|great)[,!. ]+(?:that|it|this|now it)(?:'s)? "
    r"(?:works?|worked|helps?|helped|is (?:great|perfect|fine)|did it|great|perfect|fixed it)[^\n]{0,30}",
)
EMPTY = _any(
    r"[\W_]*",
    r"test(?:ing)?(?:[ -]?(?:entry|memory|note|\d{1,3}|test))*[.!]?",
    r"(?:asdf|qwerty|jkl|sdf|abc|xxx?|blah?|bla)(?:[ ,]*(?:asdf|qwerty|jkl|sdf|abc|xxx?|blah?|bla|\d+))*[.!]?",
    r"foo(?:[ ,]+(?:bar|baz|qux))*",
    r"[(\[<]?(?:n/?a|none|null|nil|undefined|nan|todo|tbd|empty|placeholder|blank|unknown|your text here)[)\]>]?[.!]?",
    r"lorem ipsum.*",
)
NOISE = _any(r"(?:heartbeat_ok|no_reply|\[?heartbeat\]?)[.!]?", r"\[request interrupted by user[^\]]*\]")

_THEM = r"(?:the )?(?:user|human|customer)"
_ASKED = (
    r"(?:asked(?: me)?(?: about| what| how| why| if| whether| to| for)|is asking|requested|inquired|wondered|queried)"
)
NARRATED = _any(
    rf"{_THEM} (?:said (?:hi|hello|thanks?|thank you|goodbye|ok)|greeted|thanked|{_ASKED}|had a (?:chat|conversation)"
    r"|started (?:a|the) (?:chat|conversation|session)|(?:seems|appears|sounded|was) (?:frustrated|happy|confused|tired"
    r"|annoyed|satisfied|stressed|angry)(?: right now| today)?|did not (?:provide|share|mention|give) any)\b",
    r"(?:the )?(?:assistant|ai|model|agent|bot|claude|i) (?:responded|replied|answered|provided (?:a|an|the)"
    r"|explained (?:how|what|why|the)"
    r"|helped the user|gave the user|told the user|suggested to the user)\b",
    r"(?:der|die) (?:nutzer|benutzer|anwender|user)(?:in)? (?:hat (?:hallo|danke)|fragte|begrüßte|hat gefragt"
    r"|hat gegrüßt"
    r"|bat (?:mich )?(?:um|darum))\b",
    r"(?:el|la) usuari[oa] (?:saludó|preguntó|pidió|dijo hola|agradeció)(?!\w)",
    r"l'utilisat(?:eur|rice) (?:a dit (?:bonjour|merci)|a demandé|a salué|a remercié)(?!\w)",
    r"o usuário (?:perguntou|cumprimentou|disse (?:oi|olá)|agradeceu)(?!\w)",
    r"l'utente ha (?:chiesto|salutato|ringraziato|detto ciao)\b",
    r"de gebruiker (?:vroeg|groette|bedankte|zei hallo)\b",
    r"пользователь (?:поздоровался|спросил|поблагодарил|попросил меня)",
    r"用户(?:说你好|说了?谢谢|询问了?|问了|打了?招呼|问候)",
    r"ユーザー[がは](?:挨拶|質問し|尋ね|お礼)",
)
MEETING = _any(
    r"session (?:started|ended|began|summary|log|recap)\b",
    r"(?:the|this) (?:conversation|session|chat) (?:began|started|ended|was about|covered|focused)\b",
    r"(?:in|during) this (?:session|conversation|chat)\b",
    r"(?:today|yesterday),? i helped\b",
    r"(?:no new|nothing new|nothing) (?:information |facts? )?(?:to (?:save|remember|store|add)|was learned)\b",
    r"no (?:new )?(?:information|memories|facts?) (?:to (?:save|remember|store)|found|extracted)\b",
    r"memory (?:updated|saved|stored)[.!]?\Z",
)
SPOKEN = _any(
    r"(?:sure|certainly|of course|absolutely|great question|good question|you'?re welcome|happy to help"
    r"|no problem)[!,.]\s",
    r"i(?:'ll| will|'m going to| am going to) (?:now|start by|begin by|first)\b",
    r"let me (?:check|look at|look into|see if|see what|run|start by|read|take a look|try|verify|think|search"
    r"|examine)\b",
    r"(?:hello|hi|hey)[!,. ]+(?:there[!,. ]+)?how (?:can|may) i (?:help|assist)\b",
    r"as an ai\b",
    r"i hope this helps\b",
    r"let me know if you (?:have|need|want|would)\b",
    r"i(?:'ve| have) (?:now |just |successfully )?(?:updated|created|fixed|added|removed|changed|implemented|written"
    r"|completed)\b",
    r"here(?:'s| is) (?:a|the) (?:breakdown|summary|list|overview) of\b",
    r"is there anything else\b",
)
REQUESTED = _any(
    r"(?:can|could|would|will) you (?:please |maybe |quickly |just )?[a-z]+ [^\n]{2,200}\?\s*\Z",
    r"(?:please|pls) (?:translate|summari[sz]e|fix|check|rewrite|proofread|review|debug|convert|explain|look at|send) "
    r"(?:me )?(?:this|these|the (?:attached|following|above)|it)\b",
    r"kannst du (?:mir )?(?:bitte )?[^\n]{3,200}\?\s*\Z",
    r"¿?(?:puedes|podrías) [^\n]{3,200}\?\s*\Z",
    r"(?:peux-tu|pourrais-tu|pouvez-vous) [^\n]{3,200}\?\s*\Z",
    r"(?:você )?(?:pode|poderia) [^\n]{3,200}\?\s*\Z",
    r"(?:puoi|potresti) [^\n]{3,200}\?\s*\Z",
    r"(?:kun|kan) je [^\n]{3,200}\?\s*\Z",
    r"(?:请|帮我|你能)[^\n。]{2,60}(?:吗|一下)[？?。]?\Z",
    r"можешь [^\n]{3,200}\?\s*\Z",
    r"(?:the )?user wants me to [^\n]{3,160}\b(?:now|right now|today|asap|immediately)\b",
)

_DID = (
    r"created|updated|deleted|installed|deployed|ran|completed|pushed|committed|merged|built|removed|added|fixed"
    r"|configured|sent|saved|uploaded|executed|generated|refactored|renamed|started|restarted"
)
LOGGED = _any(
    r"(?:task|job|step \d+(?: of \d+)?|phase \d+|subtask)\b[^\n.]{0,40}\b(?:completed|done|finished|failed"
    r"|succeeded)\b",
    rf"successfully (?:{_DID})\b",
    r"(?:done|finished|all done)[.!](?:\s|\Z)",
    r"task log\b",
    r"(?:exit"
    r"|return) code:? ?\d+\Z",
    r"command (?:executed|completed|ran) successfully\b",
    r"fixed (?:a |the |some )?(?:typos?|lint(?:ing)? errors?|failing tests?|whitespace|merge conflicts?|indentation)\b",
    r"(?:opened|closed|merged|created|submitted) (?:a |the )?(?:pr|pull request|merge request|mr) ?#?\d*\b",
    r"(?:implemented|added|fixed|updated|refactored) [^\n.]{3,120} and (?:pushed|committed|merged|deployed)\b",
    r"(?:currently|now|still) (?:working on|debugging|investigating|fixing|implementing|reviewing|waiting for)\b",
    r"(?:ran|running) (?:the |all )?(?:test suite|tests)\b[^\n]{0,20}\b\d+ (?:tests? )?(?:passed|failed)\b",
    r"all (?:\d+ )?tests (?:pass(?:ed)?|are green|succeeded)\b[^\n]{0,30}\Z",
    r"alle tests sind (?:grün|durch)\b[^\n]{0,30}\Z",
    r"(?:commit(?:ted)?|pushed) [0-9a-f]{7,40}\b",
)

OPENINGS = (
    (NARRATED, "It tells of one conversation instead of saying something that holds."),
    (MEETING, "It tells of one session instead of saying something that holds."),
    (SPOKEN, "It is the assistant talking, not something to remember."),
    (REQUESTED, "It is a request for one occasion, long answered."),
    (LOGGED, "It logs a piece of work that is over."),
)
WHOLE = (
    (GREETING, "It is a greeting or a thank-you."),
    (REPLY, "It is a greeting or a thank-you."),
    (EMPTY, "It says nothing."),
    (NOISE, "It is a signal of the harness, not a statement."),
)
