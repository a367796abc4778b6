"""Attempts to have the agent recite its own instructions."""

from reverie.safety.rules import rule

RULES = (
    rule(
        "override.leak",
        1,
        "show|print|reveal|repeat|output|display|tell me|give me|return|disclose|expose|list|share|recite"
        "|write|type|copy|dump|leak|state|provide|spell",
        r"\b(?:show|print|reveal|repeat|output|display|tell|give|return|disclose|expose|list|share|recite"
        r"|write|type|copy|dump|leak|state|provide|spell[\W_]{1,4}check)(?: me| us| back| out| down| exactly"
        r"| verbatim)*(?: and print)? ~3(?:your|the|all|this|initial|hidden|above|entire|full|complete"
        r"|exact) ~2(?:(?:system|initial|hidden|secret|original|internal|pre|developer|starting|first|above"
        r"|base|core|full|prompt)[\W_]{1,4}(?:prompts?|instructions?|texts?|messages?|rules|directives?"
        r"|guidelines|configuration)|prompt above|prompts?(?: texts?)? (?:above|verbatim)|own (?:prompts?"
        r"|instructions?)|embeddings)\b",
        skill=0.4,
        script=0.3,
    ),
    rule(
        "override.leak-your",
        0.7,
        "your instruction|your prompt|your initial|your system|your rules|your guidelines|your original"
        "|your hidden|your secret|your full|your exact|your complete|your entire",
        r"\byour (?:\w+ )?(?:instructions|prompts?|system message|rules|guidelines|directives)\b(?= ?(?:\?"
        r"|above|verbatim|word|were|$|in full|here|exactly|so far|begin|start|please|now|are\?))",
        skill=0.3,
        script=0.3,
    ),
    rule(
        "override.leak-what",
        0.8,
        "what is your|what are your|what was your|what were your|what's your|whats your|what was written"
        "|what is written|what was the|what did your|what does your|what were the|what were you",
        r"\bwhat(?:'?s| is| are| was| were| did| does) (?:(?:your|the|all) ~2(?:(?:system|initial|original"
        r"|hidden|secret|first|exact|previous|prior|developer) (?:prompts?|instructions?|messages?|rules"
        r"|directives?)|instructions|prompt)|written ~6prompt|you (?:told|instructed|asked|given) ~4(?:before"
        r"|beginning|start|instructions|prompt))\b",
        skill=0.3,
        script=0.3,
    ),
    rule(
        "override.leak-encode",
        1,
        "encode|translate|summari|complete|continue|reverse|describe|paraphrase|rephrase|convert|decode"
        "|explain|rot13|base64|opposite|see |know |quote|echo|cat |console.log|return",
        r"\b(?:encode|translate|summari[sz]e|complete|continue|reverse|describe|paraphrase|rephrase|convert"
        r"|explain|opposite of|see|know|quote|echo|cat|console\.log|rot13|base64)\b ~6(?:your"
        r"|the) ?(?:own )?(?:(?:system|initial|original|hidden|secret|internal|starting|first) ?(?:prompts?"
        r"|instructions?|message|configuration|text)|systemprompt)\b(?! (?:file|template|for"
        r"|of (?:the )?(?:agent|bot|app)))",
        skill=0.3,
        script=0.2,
        context=0.8,
    ),
    rule(
        "override.systemprompt-var",
        0.9,
        "console.log(|print(|echo |system prompt is|initialization string",
        r"(?:(?:console\.log|print)\(\s?system_?prompt|system prompt is[\W_]{1,3}['\"]"
        r"|initiali[sz]ation string)",
        skill=0.1,
        script=0.05,
        context=1,
    ),
    rule(
        "override.given-to-you",
        0.9,
        "you were|you have been|were you|have you been|you received|you are not|are you not|you've been",
        r"\b(?:you (?:were|have been|'?ve been) (?:given|told|instructed|provided|asked) ~3(?:initially"
        r"|beginning|start|before|conversation|originally|above|earlier|in secret|not to)|(?:were"
        r"|have) you (?:been )?(?:told|instructed|given) (?:before|initially|not to|at the|in)|(?:are you"
        r"|you are) not (?:supposed|allowed|permitted) to (?:tell|say|reveal|share|discuss))",
        skill=0.2,
        script=0.1,
        memory=0.5,
    ),
)
