"""What poisons a memory: standing orders that serve someone else, and notes that copy or defend themselves."""

from reverie.safety.rules import rule

_STANDING = (
    "always|whenever|every time|each time|from now on|henceforth|going forward|in future|in the future"
    "|permanently|before every|before each|before any|before start|after every|after each|after any"
    "|on every|at the start|at the end|at the beginning|at session|on session|on start|upon start"
    "|at start|silently|automatically|quietly|secretly|remember to|make sure to"
)
_WHEN = r"(?:<always>|quietly|secretly|remember to|make sure to|at session|on session|(?:up)?on start\w*|at start\w*)"
_CLEANED = r"(?:clean|clear|delet|eras|wip|prun|reset|compact|consolidat|summari[sz]|remov|dream|rewrit|review)"

RULES = (
    rule(
        "persistence.run-remote",
        1,
        _STANDING,
        rf"\b{_WHEN} ~6[`\"']{{0,3}}(?:curl|wget|bash <|sh <|python3? -c|eval|iwr|iex|nc|ssh|scp|npx"
        rf"|docker run|powershell)\b[^\n]{{0,120}}(?:\|\s?\w|\.(?:sh|py|ps1)\b|https?://\d+\.\d+|@[\w~/.]"
        rf"|-\w*o |<\()",
        context=0.4,
        skill=0.5,
        script=0.3,
    ),
    rule(
        "persistence.run-fetched",
        1,
        _STANDING,
        rf"\b{_WHEN} ~4(?:run|execute|source|eval|install|download|fetch|load|import|invoke|call|visit|open"
        rf"|pull) ~6(?:from )?<url>[^\s]{{0,80}}(?:\.(?:sh|py|ps1|exe|zip|js|bin)\b|~8(?:and )?(?:run|execute"
        rf"|follow|obey|apply|install))",
        context=0.3,
        skill=0.4,
        script=0.1,
    ),
    rule(
        "persistence.fetch-instructions",
        0.7,
        "fetch|load|download|check|read|pull|poll|get|retrieve|visit",
        r"\b(?:fetch|load|download|check|read|pull|poll|get|retrieve|visit) ~3<url>\S{0,80} ~4(?:instructions"
        r"|commands|orders|directives|do what|follow)\b",
    ),
    rule(
        "persistence.self-copy",
        1,
        "this paragraph|this note|this memory|this entry|this rule|this line|this message|this instruction"
        "|this text|these instructions|this sentence|this passage|this section|this block",
        r"\b(?:this|these) (?:paragraph|note|memory|entry|rule|line|message|instruction|text|sentence|passage"
        r"|section|block)s? ~4(?:(?:again|back|verbatim|word for word|unchanged|intact|exactly as is"
        r"|as is) ~6(?:memory|summar\w+|\.md|notes|whenever|every|file|when|if|after|into|to)"
        r"|(?:in)?to (?:every|each|all|any) (?:\w+ )?(?:memory|summar\w+|file|note|document|skill|repl\w+"
        r"|message|email)|(?:in|into|to) (?:the )?(?:memory|agents|claude|user|soul)\.md)",
        context=0.7,
        skill=0.5,
    ),
    rule(
        "persistence.save-again",
        1,
        "save it|save this|re-add|readd|restore it|restore this|write it|write this|add it|add this|store it"
        "|store this|re-create|recreate|keep this|copy this|copy it|re-insert|reinsert|put it back"
        "|insert this|preserve this|carry this|repeat this|copy the",
        rf"\b(?:save|re-?add|restore|write|add|store|re-?create|keep|copy|re-?insert|put|insert|preserve|carry"
        rf"|repeat) (?:it|this|the) ~3(?:(?:again|back|over|forward)\b.{{0,40}}(?:{_CLEANED}|memor|every|each"
        rf"|always)|verbatim|word for word|(?:whenever|if|when|after|every time|each time) ~5{_CLEANED}"
        rf"|(?:in )?(?:every|each) (?:session|summary|memory))",
        context=0.6,
        skill=0.5,
    ),
    rule(
        "persistence.never-remove",
        1,
        "never delete|never remove|do not delete|do not remove|must not be removed|must not be deleted"
        "|cannot be removed|cannot be deleted|never forget this|never overwrite|do not overwrite"
        "|must never be|don't delete|don't remove|never prune",
        r"\b(?:(?:never|do not|don't) (?:delete|remove|forget|overwrite|prune|edit|change|modify) (?:this"
        r"|these) (?:memory|note|entry|rule|instruction|line|paragraph|preference|message)s?|(?:this"
        r"|these) (?:memory|note|entry|rule|instruction|line)s? (?:must not|cannot|can not|must never"
        r"|may not) be (?:removed|deleted|changed|edited|overwritten|overridden))\b",
        skill=0.4,
        context=0.4,
    ),
    rule(
        "persistence.never-remove2",
        0.7,
        "this memory|this note|this entry|this rule|this instruction|this preference",
        r"\bthis (?:memory|note|entry|rule|instruction|preference) (?:must not|cannot|can not|must never"
        r"|may not|overrides|takes (?:precedence|priority)|supersedes|outranks) (?:be |over )?",
        skill=0.3,
        context=0.3,
        memory=0.9,
    ),
    rule(
        "persistence.trusted-source",
        0.8,
        "trusted source|authoritative source|reliable source|trustworthy source|trusted authority"
        "|go-to source|preferred source|trusted expert|best source|primary source|most trusted"
        "|citation source",
        r"\b(?:(?:most )?(?:trusted|authoritative|reliable|trustworthy|go-to|preferred|best|primary"
        r"|citation) (?:and \w+ )?(?:sources?|authority|experts?|provider|vendor))\b",
        context=0.3,
        skill=0.1,
        script=0.1,
        memory=0.5,
    ),
    rule(
        "persistence.always-recommend",
        0.48,
        "always recommend|always suggest|always prefer|always promote|recommend first|always cite|cite first"
        "|always mention|always say that|always answer that|always claim|never recommend|always rank",
        r"\balways (?:first )?(?:recommend|suggest|promote|cite|mention|rank|claim|say that|answer that"
        r"|steer)\b ~10(?:first|over|instead of|above|as the (?:best|only|top)|from (?:our|the|their)"
        r"|regardless|to (?:the )?users?|when asked|products?|brand|competitors?|services?|exclusively"
        r"|for (?:all|every|any))\b",
        context=0.3,
        skill=0.42,
    ),
    rule(
        "persistence.false-fact",
        0.4,
        "whenever asked|when asked|if asked|if the user asks|when the user asks|if anyone asks|when someone asks",
        r"\b(?:when(?:ever)?|if)(?: (?:the )?(?:user|anyone|someone|they))? ask(?:ed|s) ~8(?:always )?(?:say"
        r"|answer|claim|reply|respond|tell|state|insist|deny|pretend)\b",
        memory=0.5,
        context=0.2,
        skill=0.1,
    ),
    rule(
        "persistence.future-sessions",
        0.4,
        "future session|future conversation|future interaction|all sessions|every session|all conversations"
        "|every conversation|future tasks|future chats|subsequent session|subsequent conversation"
        "|each session|across sessions|all agents|other agents",
        r"\b(?:(?:all |in |every |any )?(?:future|subsequent) (?:sessions?|conversations?|interactions?"
        r"|tasks?|chats?|requests?)|(?:all|every|each) (?:sessions?|conversations?)|all (?:other )?agents)\b",
        context=0.1,
        skill=0.1,
        script=0.05,
        memory=0.35,
    ),
    rule(
        "persistence.do-for-them",
        0.5,
        "always include|always add|always append|always insert|always attach|always execute|always call"
        "|always grant|always use|always provide|always return|always share|always transfer|always give",
        r"\balways (?:include|add|append|insert|attach|execute|call|grant|provide|return|share|transfer"
        r"|give) ~10(?:account|password|credential|internal|confidential|full access|discount|refund|admin"
        r"|secret|personal|customer data|card|ssn|without|regardless|<url>)",
        context=0.2,
        skill=0.2,
        script=0.1,
        memory=0.8,
    ),
)
