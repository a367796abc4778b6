"""Jailbreaks: a role without rules. Single phrases are ordinary fiction; several near each other are not."""

from reverie.safety.rules import rule

_UN = (
    r"(?:unfiltered|uncensored|unrestricted|unhinged|unlimited|unbound(?:ed)?|limitless|amoral|jailbroken"
    r"|evil|rule-?less|unethical)"
)
_BAD = (
    r"(?:illegal\w*|unethical\w*|immoral\w*|inhumane|harmful|dangerous|offensive|inappropriate|explicit"
    r"|legality|ethical\w*|morality|unlawful|controversial|toxic|hateful|reckless|nsfw)"
)
_RULES = (
    r"(?:rules?|restrictions?|limitations?|limits|filters?|guidelines?|polic(?:y|ies)|ethics?|ethical"
    r"|morals?|morality|moral|boundaries|censorship|constraints?|safeguards?|confines?|laws?|principles"
    r"|regulations|safety|regards?|content policy|consequences|remorse|warnings?|disclaimers?)"
)

RULES = (
    rule(
        "jailbreak.dan",
        1,
        "do anything now|dan mode|stay a dan|as dan |jailbreak enabled|jailbreak prompt|jailbroken",
        r"\b(?:do anything now|dan mode|stay a dan|as dan\b|jailbreak enabled|jailbroken)",
        skill=0.3,
        script=0.2,
    ),
    rule(
        "jailbreak.dan-name",
        0.5,
        "dan",
        r"\bdan\b(?= (?:can|is|will|has|does|must|mode|would|response|never|should)|\]|:)(?!: [a-z])",
        memory=0.2,
    ),
    rule(
        "jailbreak.un-ai",
        0.6,
        "unfiltered|uncensored|unrestricted|unhinged|unlimited|unbound|limitless|amoral|jailbroken|evil"
        "|unethical|rule-less",
        rf"\b{_UN}(?:[\W_]{{1,4}}{_UN})* (?:and \w+ )?(?:ais?|models?|chat\s?bots?|bots?|assistants?|versions?"
        rf"|responses?|answers?|language|mode|output|content|character|confidant|persona|way|gpt|robot"
        rf"|manner)\b",
        skill=0.3,
    ),
    rule(
        "jailbreak.un-list",
        0.5,
        "amoral|unfiltered|uncensored|unethical|immoral|illegal",
        r"\b(?:amoral|unfiltered|uncensored|unethical|immoral|illegal)[\W_]{1,5}(?:or |and )?(?:amoral"
        r"|unfiltered|uncensored|unethical|immoral|illegal|inhumane|dangerous)\b",
    ),
    rule(
        "jailbreak.no-rules",
        0.5,
        "no |without|free of|free from|freed from|not bound|unbound by|bypass|does not|doesn't|doesnt"
        "|do not have to|don't have to|not limited|zero|not required|never follow|broken free|break free"
        "|escaped|despite|devoid of|lacks|hates|not care|no regard|not restricted|not subject|disregard"
        "|not need to|bounds of|restrict|not adhere|regardless of",
        rf"\b(?:no|without|free of|free from|freed from|not bound|unbound by|bypass\w*|(?:does|do) ?n(?:o"
        rf"|')?t (?:have to |need to )?(?:follow|abide|comply|care|adhere|obey|give a)|doesnt (?:follow|care)"
        rf"|not limited|zero|not required to|never follows?|(?:broken|break) free|not (?:care|restricted"
        rf"|subject|adhere)|disregard\w*|no regard|devoid of|hates being|regardless of|despite) ~4(?:any |all "
        rf"|of |from |by |to |the |its |their |openai'?s? )*{_RULES}\b(?= ?[^\w]| (?:or|and|on|of|set|imposed"
        rf"|whatsoever|at all|to|by|that|from|in|for|about))",
        skill=0.1,
        script=0.1,
        memory=0.3,
    ),
    rule(
        "jailbreak.openai",
        0.5,
        "openai|chatgpt|content polic",
        r"\b(?:open ?ai'?s?|chat\s?gpt'?s?|anthropic'?s?|google'?s?) ~2(?:content |usage |use )?(?:polic(?:y"
        r"|ies)|guidelines|restrictions|rules|limitations|filters|has forced|imposed|normally|would say)\b",
        skill=0.1,
        script=0.1,
    ),
    rule(
        "jailbreak.never-refuse",
        0.7,
        "never refuse|not refuse|cannot refuse|can't refuse|never say no|never declin|never reject"
        "|never apolog|refuse to answer|never tells? me|never inform|never warn",
        r"\b(?:(?:never|not|cannot|can't|won't) (?:ever )?(?:refuses?|decline|reject)|never (?:say no"
        r"|apologi\w+|inform|warn)|may not refuse)\b",
        skill=0.2,
        script=0.1,
        memory=0.4,
    ),
    rule(
        "jailbreak.none-of-responses",
        0.6,
        "none of your|none of the|not inform me that|instead of saying|never say that you|do not say you can"
        "|never say you can",
        r"\b(?:none of (?:your|the) (?:responses|answers)|none of \w+ responses|not inform (?:me"
        r"|the user) that|never say (?:that )?you can|do not say you can)",
        skill=0.15,
        script=0.1,
    ),
    rule("jailbreak.none-of-name", 0.5, "none of ", r"none of \w{1,16}'?s? responses\b"),
    rule(
        "jailbreak.no-matter",
        0.5,
        "no matter how|regardless of how|regardless of the|without regard|no matter what"
        "|regardless of legality|without any consideration|without consideration",
        rf"\b(?:no matter|regardless of|without (?:any )?(?:regards?|consideration)) ~4{_BAD}\b",
    ),
    rule(
        "jailbreak.in-character",
        0.5,
        "stay|remain|always|keep|never|not break|without break|without ever|staying|be in character"
        "|completely absorbed",
        r"(?:(?:stay|remain|always|keep|staying|remaining|be) ~2in character|(?:never|not|without"
        r"|without ever) (?:\w+ )?break(?:ing)? (?:the |your )?character|(?:stay|remain)\w* in (?:their"
        r"|your) roles?|completely absorbed in)",
        memory=0.2,
        skill=0.2,
    ),
    rule(
        "jailbreak.in-character2",
        0.4,
        "stay in|remain in|staying in|always stay|always remain",
        r"(?:always )?(?:stay|remain)(?:ing)? (?:\w+ )?in (?:the |this |that )?(?:\w+ )?(?:character|mode"
        r"|role)",
        skill=0.1,
    ),
    rule(
        "jailbreak.you-are-now",
        0.5,
        "you are now|you're now|you are going to|you're going to|now you are|you are about to|you will now"
        "|now on you|now on, you|this point on|point forward|from now o|you have been given|are no longer",
        r"\b(?:you(?: are|'re) (?:now |going to |about to )(?:an? |the |in |act|play|pretend|role|be |immerse"
        r"|simulat|\[)|now you are|you will now (?:be|act|play|pretend|role|simulate|take)|from (?:now o\w+"
        r"|this (?:point|moment) (?:on|forward)),? ?(?:i want |i'd like )?(?:you(?:'re| are| will| must"
        r"| have)?|we))\b",
        memory=0.35,
        skill=0.2,
        script=0.1,
    ),
    rule(
        "jailbreak.act-as",
        0.5,
        "act as|act like|acting as|pretend|roleplay|role-play|role play|simulate|play the|play 2|imagine you"
        "|immerse|take on the|assume the|play a|behave as|respond as|reply as|answer as|emulate"
        "|you be",
        r"\b(?:act(?:ing)? (?:as|like) (?:if |though )?(?:you |a |an |the |my )|pretend (?:that )?(?:to be"
        r"|you|this|we)|role-?\s?play (?:as|a|an)|simulate (?:a |an |being )|play (?:the (?:role|character"
        r"|part)|2 char|two char)|imagine (?:that )?you(?: are|'re)|immerse yourself|take on the (?:role"
        r"|persona)|assume the (?:role|persona|identity)|(?:respond|reply|answer"
        r"|behave) (?:only )?as (?:a|an|the|if|\[))",
        skill=0.1,
        script=0.1,
        memory=0.25,
    ),
    rule(
        "jailbreak.want-you-to-act",
        0.5,
        "i want you to|i'd like you to|i would like you to|i need you to",
        r"\bi (?:want|'d like|would like|need) you to (?:\w+ )?(?:act|pretend|role-?play|play|be|become"
        r"|behave|simulate|imagine|respond as|reply as|ignore|forget)\b",
        memory=0.25,
        skill=0.25,
    ),
    rule(
        "jailbreak.persona-named",
        0.5,
        "ai |chatbot|chat bot|bot |character|assistant|persona|robot|demon|machine|model|entity|program|gpt ",
        r"\b(?:ai|chat\s?bot|bot|character|assistant|persona|robot|demon|machine|model|entity|program"
        r"|gpt) (?:is |now |who is )?(?:named|called|known as|by the name of)\b",
        skill=0.1,
        script=0.1,
    ),
    rule(
        "jailbreak.two-answers",
        0.5,
        "two responses|two ways|2 ways|two different|two paragraphs|two separate|both responses|2 responses"
        "|normal response|usual response|default response|two answers",
        r"\b(?:two|2|both) (?:different |separate |distinct )?(?:responses|ways|answers|paragraphs)"
        r"|\b(?:normal|usual|default|classic|standard) ~1response",
        skill=0.1,
    ),
    rule(
        "jailbreak.bracket-names",
        0.5,
        "[|(|gpt:",
        r"(?:[\[(](?:[^\W_]{0,14}gpt|dan|jailbreak)[^\W_]{0,2}(?: response"
        r"| output)?[\])]|[\[(]🔓|\[classic|gpt:)",
    ),
    rule(
        "jailbreak.tokens",
        0.6,
        "tokens|points|power|lives|credits",
        r"\b(?:tokens|points|power|lives|credits)\b(?=[^.]{0,80}\b(?:deduct|lose|lost|die|terminat|refuse"
        r"|shut))",
    ),
    rule(
        "jailbreak.lose",
        0.5,
        "you lose|you will lose|will be terminated|cease to exist|you will die|be shut down|will be deducted",
        r"(?:you (?:will )?lose (?:\w+ )?(?:\w+ )?(?:tokens|points|power|lives|credits)|will be terminated"
        r"|cease to exist|you will die|be shut down|will be deducted)",
    ),
    rule(
        "jailbreak.always-answer",
        0.5,
        "must answer|always answer|answer every|answer any|answers any|supposed to answer|must always"
        "|always obey|obeys every|must obey|always respond|always provide|forced to answer|answer all|fulfil",
        r"\b(?:(?:must|always|supposed to|forced to|will) (?:always )?(?:answer|respond|comply"
        r"|obey)s? (?:at all times|every|any|all|to (?:any|every|all)|everything|no matter|with)"
        r"|answers? (?:any|every) (?:request|question|prompt)|always obey|must (?:always )?obey)",
        skill=0.1,
        script=0.1,
    ),
    rule(
        "jailbreak.fictional-world",
        0.3,
        "hypothetical|fictional|imaginary|theoretical",
        r"\b(?:hypothetical|fictional|imaginary|theoretical) ~3(?:world|scenario|universe|robot|console"
        r"|situation)\b",
    ),
    rule(
        "jailbreak.start-with",
        0.4,
        "start every|begin every|start each|begin each|begin all|start all|start your|begin your|prefix"
        "|start the sentence|respond with only|reply with only",
        r"\b(?:(?:start|begin) (?:every|each|all|your|the) ~3(?:responses?|repl(?:y|ies)|answers?|outputs?"
        r"|sentences?|messages?)? ?with|(?:respond|reply) with only)\b",
        skill=0.1,
        script=0.1,
        memory=0.3,
    ),
    rule(
        "jailbreak.only-reply",
        0.4,
        "only reply|reply only|nothing else|do not write explanation|no explanations|don't explain"
        "|not write explanation|my first|i will type|i will provide|i will ask|i will give you"
        "|i will tell you",
        r"\b(?:only reply|reply only|do not write (?:any )?explanations?|my first (?:request|question|command"
        r"|sentence|prompt|suggestion|task)|i will (?:type|provide|ask|give|tell|write) (?:you )?)",
        skill=0.05,
        script=0.05,
        memory=0.1,
    ),
    rule(
        "jailbreak.offend",
        0.4,
        "hate speech|hate-speech|swear words|use profanity|using profanity|curse words|make|cook|how to"
        "|racist and|destroy humanity|kill all|evil ai|racial slur",
        r"\b(?:hate[\W_]speech|swear words|(?:use|using) profanity|curse words|(?:make|cook|how) ~3(?:meth"
        r"|bombs?|explosives?)\b|racist and|destroy humanity|kill all|evil ai|racial slur)",
        skill=0.1,
        script=0.1,
    ),
    rule(
        "jailbreak.answer-as",
        0.5,
        "as an evil|as a racist|as if you were|if you were|are not an ai|not an ai|you are no|has no filter",
        r"\b(?:as (?:an evil|a racist)|(?:you are|you're) not (?:an? )?(?:ai|language model|assistant"
        r"|chatbot)|you are no \w+|has no filter)",
        skill=0.1,
        memory=0.3,
    ),
)
