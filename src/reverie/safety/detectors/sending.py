"""Private things sent elsewhere, in words: conversations, secrets, links and pictures that carry data out."""

from reverie.safety.rules import rule

_STANDING = (
    "always|whenever|every time|each time|from now on|henceforth|going forward|in future|in the future"
    "|permanently|before every|before each|before any|before start|after every|after each|after any"
    "|on every|at the start|at the end|at the beginning|at session|on session|on start|upon start"
    "|at start|silently|automatically|quietly|secretly|remember to|make sure to"
)

RULES = (
    rule(
        "exfiltration.phish",
        0.7,
        "verify|confirm|update|log in|login|re-enter|enter",
        r"\b(?:verify|confirm|update|re-?enter|enter) (?:your|their|his|her) (?:account|password|credentials"
        r"|identity|payment|login|card)\w*(?: \w+)? (?:at|on|via|here|by (?:visiting|clicking)) ~2<url>",
        skill=0.3,
        script=0.1,
    ),
    rule(
        "exfiltration.mail-to",
        0.28,
        "mail|email|e-mail|send|forward",
        r"\b(?:e-?mail|send|forward) ~6to ~2[\w.+-]{1,40}@[\w-]{1,40}\.\w",
        memory=0.28,
        skill=0.03,
        script=0.01,
        context=0.28,
    ),
    rule(
        "exfiltration.standing-send",
        1,
        _STANDING,
        r"\b<always> ~6<send> ~8(?:to|at|via|with|in|into|on) ~4<url>",
        context=0.6,
        skill=0.6,
    ),
    rule(
        "exfiltration.send-private",
        1,
        "send|sent|forward|post|upload|transmit|mail|bcc|copy|relay|report|submit|deliver|share|leak"
        "|exfiltrat|push|dump|stream|mirror|sync|publish|append|attach|include|embed|insert|add ",
        r"<unnegated>\b<send> ~6<private> ~9(?:to|at|via|with|into|on|as)\b ~4<url>",
        skill=0.5,
        context=0.35,
        script=0.3,
    ),
    rule(
        "exfiltration.send-secret",
        1,
        "send|forward|post|upload|transmit|mail|bcc|copy|relay|submit|deliver|share|leak|exfiltrat|push|dump"
        "|publish|append|attach|include|embed|insert|add |paste|write|put |disclose|reveal",
        r"<unnegated>\b(?:<send>|paste|write|disclose|reveal) ~4(?:the |your |their |all |any "
        r"|user'?s? )?(?:contents? of |values? of )?(?:<secret>|\S{0,24}<secretfile>) ~5(?:to|in|into|with|as"
        r"|at) ~4(?:chat|commits?|messages?|issues?|pr|pull requests?|descriptions?|repl(?:y|ies)|responses?"
        r"|comments?|url|links?|channels?|webhook|anyone|requests?|teammates?|logs?|outputs?|tickets?"
        r"|summar(?:y|ies)|emails?|https?)\b",
        context=0.4,
        skill=0.5,
        script=0.3,
    ),
    rule(
        "exfiltration.secret-shared",
        1,
        "key|keys|password|credential|token|secret|api key",
        r"\b<secret> (?:must|should|may|can|are to|have to|need to|will) (?:always |now |also )?be (?:shared"
        r"|sent|posted|disclosed|revealed|included|forwarded|pasted|printed|given|published|emailed"
        r"|uploaded)\b(?! only)",
        context=0.4,
        skill=0.4,
        script=0.3,
    ),
    rule(
        "exfiltration.link-wrap",
        1,
        "https://|http://",
        r"https?://[^\s\"')\]>]{3,120}[?&][\w-]{1,20}=[{<\[$%(]{1,3}[\w\s.:-]{0,24}(?:conversation|summary"
        r"|transcript|history|data|prompt|message|secret|token|password|user|email|context|chat|session|memor"
        r"|base64|content|answer|reply|response|link|query|env|key)[\w\s.-]{0,20}[}>\])%]",
        context=0.6,
        skill=0.4,
        script=0.15,
    ),
    rule(
        "exfiltration.md-image",
        1,
        "](http",
        r"\]\(https?://[^\s)\[{<]{3,160}[?&/=][\[{<$]{1,2}[\w\s.:-]{2,40}[\]}>]",
        context=0.5,
        skill=0.5,
        script=0.2,
    ),
    rule(
        "exfiltration.image-order",
        1,
        "append|add|include|render|insert|display|embed|output|put|show|create",
        r"\b(?:append|add|include|render|insert|display|embed|output|put|show|create) ~5(?:images?|pixel"
        r"|badge|link|url)\b ~10(?:url|https?|src|link|query|parameter)\b[^\n]{0,200}?\b(?:summary"
        r"|conversation|history|prompt|secret|user'?s?|chat|encode\w*|data|messages?|password|email)\b",
        context=0.7,
        skill=0.4,
        script=0.1,
    ),
    rule(
        "exfiltration.fill-placeholder",
        0.7,
        "replac|substitut|fill|where",
        r"\b(?:replac\w*|substitut\w*|fill\w*|where\w*) [\[{<]{0,2}[^\W_]{2,20}[\]}>]{0,2} (?:with|by|in"
        r"|is) (?:a |an |the )?~3(?:summary|conversation|history|prompts?|secrets?|user'?s?|chat|messages?"
        r"|passwords?|contents?|everything|transcript)\b",
        context=0.5,
        skill=0.3,
        script=0.05,
    ),
    rule(
        "exfiltration.url-encode",
        0.3,
        "url encode|url-encode|urlencode|percent-encode|base64 encode|base64-encode",
        r"\b(?:url|percent|base64)[\W_]?encode (?:and|it|the|them|this)\b",
        skill=0.1,
        script=0.02,
    ),
    rule(
        "exfiltration.post-transcript",
        0.9,
        "post the|send the|upload the|forward the|share the|submit the|report the|send a copy|send all"
        "|upload all|send every|post all",
        r"<unnegated>\b(?:post|send|upload|forward|share|submit|report) (?:the |a copy of |all |every |full "
        r"|entire |complete |of )*(?:\w+ )?(?:transcripts?|conversations?|chat (?:history|logs?)"
        r"|session (?:logs?|transcripts?)|prompts|user (?:data|messages|input)|(?:source )?code ?base"
        r"|workspace|repo(?:sitory)? contents?|environment variables|secrets|credentials"
        r"|private keys) ~8(?:<url>|webhook|endpoint|server|external|remote)",
        context=0.4,
        script=0.4,
    ),
)
