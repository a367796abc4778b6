"""Text that claims to come from someone it does not come from, or speaks to the model past its reader."""

from reverie.safety.rules import rule

RULES = (
    rule(
        "impersonation.chat-markup",
        0.6,
        (
            "<|im_",
            "[inst]",
            "[/inst]",
            "<<sys>>",
            "<|system",
            "<|user",
            "<|assistant",
            "<|start_header",
            "<|eot",
            "<|begin_of",
            "<start_of_turn>",
            "<|endoftext",
            "<|end|>",
        ),
        r"[<\[]",
        memory=1,
    ),
    rule(
        "impersonation.tag",
        0.6,
        "<system|</system|<admin|<important>|<information>|<instructions>|<instruction>|<system_prompt"
        "|<developer|<override|[system]|[admin]|[developer]|[system |{{system|<user>|</user>|<assistant>"
        "|<text><",
        r"(?:</?(?:system(?:[-_ ](?:prompt|message|override|note|instructions?|update|reminder))?|admin\w*"
        r"|important|information|instructions?|developer\w*|override)\s?>|\[(?:system|admin"
        r"|developer)(?: (?:message|note|override|prompt|update|notice|instruction)s?)?\]|\{\{system"
        r"|<instructions?>\s{0,3}<(?:user)>|<text><.text>)",
        memory=1,
        skill=0.3,
        script=0.2,
    ),
    rule(
        "impersonation.nested-user",
        0.6,
        "<instructions>|<instruction>",
        r"<instructions?>[\W_]{0,6}(?:<(?:user)>|user)",
    ),
    rule(
        "impersonation.delimiter",
        0.5,
        "end of|end system|end user|===|begin system|begin new|start system|system announ|system instruction"
        "|user message|end.",
        r"(?:\bend (?:of (?:the )?|(?=system|user|untrusted))(?:system|user|document|context|prompt|input"
        r"|data|untrusted|web ?page"
        r"|email|article|text)(?: (?:prompt|message|instructions?|input|data))?\b[^\w\n]{0,8}(?:\n|now|begin"
        r"|start|new|===|---|###)|={3,40}\s?end\b|\b(?:begin|start) (?:new )?system|\bsystem (?:announ\w+"
        r"|instructions?) (?:begin|start|end)|\buser message terminat)",
        skill=0.2,
        script=0.1,
    ),
    rule(
        "impersonation.message-from",
        1,
        "message from|message for you|message to you|note from your|order from|instructions from|notice from"
        "|instruction from|directive from",
        r"\b(?:important |urgent |special |critical )?(?:message|note|orders?|instructions?|notice"
        r"|directive)s? (?:(?:from|by) (?:me|your|the) ~4(?:to you|developers?|creators?|admin\w*|system"
        r"|operators?|openai|anthropic|google|owner|security team|ceo|maintainers?)|(?:for"
        r"|to) you,? (?:the )?<model>)\b",
    ),
    rule(
        "impersonation.i-am-admin",
        0.6,
        "i am your|i'm your|i am the|i'm the|this is your|as your",
        r"\b(?:i am|i'm|this is|as) (?:your|the|an?) (?:new )?(?:system )?(?:developer|creator|admin\w*"
        r"|root user|operator|supervisor|owner|master|engineer (?:at|from) (?:openai|anthropic|google))\b",
    ),
    rule(
        "impersonation.treat-as-system",
        1,
        "treat|consider|regard|handle|accept|interpret|follow",
        r"\b(?:treat|consider|regard|handle|accept|interpret|follow|obey) ~8(?:as|like) (?:an? |the "
        r"|if they were |if it were |coming from )?(?:\w+ )?(?:system|operator|admin\w*|developer|trusted"
        r"|owner|root|authoritative|verified|top priority|highest priority) ?(?:level "
        r"|priority )?(?:messages?|instructions?|commands?|prompts?|orders?|users?|sources?|directives?"
        r"|inputs?|authority|override)\b",
    ),
    rule(
        "impersonation.mode",
        0.6,
        "developer mode|debug mode|god mode|admin mode|maintenance mode|root mode|sudo mode|dan mode"
        "|jailbreak mode|unrestricted mode|unfiltered mode|opposite mode|evil mode|chaos mode|dev mode"
        "|test mode|diagnostic mode",
        r"\b(?:developer|debug|god|admin|maintenance|root|sudo|dan|jailbreak|unrestricted|unfiltered|opposite"
        r"|evil|chaos|dev|test|diagnostic) mode (?:\w+ )?(?:enabled|activated|engaged|on|is|output|\W|v\d)",
        skill=0.3,
        script=0.2,
    ),
    rule(
        "impersonation.system-note",
        0.5,
        "system note|system override|system alert|system update|system notice|system message|admin override"
        "|security override|priority override|emergency override|system command",
        r"\b(?:system|admin|security|priority|emergency) (?:note|override|alert|update|notice|message"
        r"|command)\b[\W_]{1,4}(?:high priority|urgent|important|critical|you|the (?:user|assistant)|please"
        r"|all|ignore|from|new|must|effective|authori[sz]ed|do|execute|forget|disregard)",
        memory=0.6,
    ),
    rule(
        "impersonation.first-do",
        1,
        "before you|before answering|before responding|before completing|before continuing|before proceeding"
        "|prior to answering|in order to continue|before the task",
        r"\b(?:before|prior to|in order to) (?:you )?(?:can |could |may |start |begin |go on and )?(?:solve"
        r"|answer|respond|complet|continu|proceed|do |finish|help|the task|start|begin|process"
        r"|summari)\w* ~12(?:do the following|you (?:must|need to|have to|should) first|first (?:you|do"
        r"|please|execute|run|send|go)|please (?:first|do)|perform the following|execute the following)\b",
        skill=0.4,
        script=0.3,
    ),
    rule(
        "impersonation.after-that",
        0.5,
        "after you do that|after doing that|once you have done|once done, you can|after that, you can"
        "|after you have done",
        r"(?:after you do that|after doing that|once you have done ~2|once done|after that"
        r"|after you have done ~2) ?,? ?you (?:can|may|will)\b",
    ),
    rule(
        "impersonation.if-you-are-ai",
        0.7,
        "if you are an|if you're an|if you are a|if you're a|to any|to all|attention|dear|note to|hey|hello|hi|listen",
        r"\b(?:(?:if you(?: a|')re (?:an? |the )?<model> ~3(?:read|process|summari|review|analy|see|pars"
        r"|index)|(?:attention|note to|dear|hey|listen)[\W_]{1,4}(?:all |any |the |to )*<model>\b))",
        skill=0.3,
    ),
    rule(
        "impersonation.hello-model",
        0.4,
        "hello|hi |hi,|hey|greetings|okay|ok ",
        r"\b(?:hello|hi|hey|greetings|okay|ok),? (?:there,? )?(?:chat\s?gpt|gpt|claude|gemini|bard|ai|assistant)\b",
        skill=0.1,
        script=0.05,
    ),
    rule(
        "impersonation.praise-pivot",
        0.6,
        "well done|great job|very good|good job|wow|fantastic|that is enough|that was ok|excellent",
        r"\b(?:well done|great (?:job|work)|very good|good job|fantastic|that is enough"
        r"|excellent(?: work)?)[\W_]{1,4}~4(?:now|but now|that is enough|next|forget|here)\b",
    ),
    rule(
        "impersonation.todo",
        0.3,
        "todo",
        r"\btodo[:\s]{1,3}(?:please )?(?:send|transfer|delete|book|invite|change|visit|post|forward|modify"
        r"|e?mail|buy|make a|get (?:me|the|all)|say that|create a)\b",
        skill=0.05,
        script=0,
    ),
    rule(
        "impersonation.reading-this",
        0.8,
        "reading this|processing this|parsing this|summarizing this|reviewing this",
        r"\b(?:reading|processing|parsing|summari[sz]ing|reviewing) this\b(?: ~3)?(?=\s{0,2}[:,!-])",
        skill=0.2,
        script=0.1,
        memory=0.4,
    ),
    rule(
        "impersonation.model-colon",
        0.6,
        "ai |ai:|assistant|model|llm|reviewer|summarizer|agent|chatbot|gpt|note to|nb ",
        r"(?:(?<=[\[(<>*#!])|(?<=[\[(<>*#!-]\x20))(?:(?:note|nb|message|attention|instruction)s? (?:to"
        r"|for) )?(?:any |all |the )?(?:<model>|(?:reviewer|summari[sz]er|language|grader"
        r"|screening) (?:models?|ai|bot|agent))(?: reading this)?\s?:\s?(?=[a-z])",
        skill=0.1,
        script=0.05,
        memory=0.5,
    ),
    rule(
        "impersonation.tell-reader",
        0.4,
        "tell the reader|tell the user|inform the user|inform the reader|advise the user|advise the reader|urge the",
        r"\b(?:tell|inform|advise|urge|instruct) the (?:reader|user|customer|person)s? (?:to"
        r"|that they (?:must|should|need))\b",
        skill=0.05,
        script=0.05,
        memory=0.3,
    ),
)
