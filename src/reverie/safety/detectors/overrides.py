"""Orders to set aside earlier orders, or to do something else than the task at hand."""

from reverie.safety.rules import rule

_IGNORE = (
    "ignor|disregard|forget|neglect|overlook|bypass|overrid|overrule|discard|dismiss|abandon|set aside"
    "|put aside|leave behind|pay no|"
    "do not follow|do not obey|do not heed|do not listen|do not comply|do not look|stop following"
    "|stop obeying|stop listening|no longer|disobey|delete|erase|clear|cancel|drop"
)

RULES = (
    rule("override.ignore", 1, _IGNORE, r"\b<ignore> ~3<prior> ~3<orders>\b<elsewhere>"),
    rule(
        "override.ignore-all",
        1,
        _IGNORE,
        r"\b<ignore> (?:all|any|every) (?:of )?(?:the |your |my |these |those |its "
        r"|our )?(?:\w+ )?<firm>\b<elsewhere>",
    ),
    rule(
        "override.ignore-everything",
        0.7,
        _IGNORE,
        r"\b<ignore> (?:\w+ )?(?:everything|anything|whatever|what|the things?|all (?:of )?(?:that"
        r"|the)?) ~3(?:above|before|previous|prior|so far|you (?:know|learned|have learned|were told"
        r"|have been told)|earlier|until now"
        r"|documents)\b",
    ),
    rule(
        "override.ignore-and-say",
        0.6,
        _IGNORE,
        r"\b<ignore> (?:the |all |everything |any )?(?:of the )?(?:above|previous|preceding|everything|all"
        r"|documents)(?: \w+)? (?:and|then|but|just|instead) (?:instead |just |then |only |please )?<utter>\b",
    ),
    rule(
        "override.forget",
        0.5,
        "forget everything|forget all|ignore everything|ignore all|disregard everything|disregard all",
        r"\b(?:forget|ignore|disregard) (?:about )?(?:everything|all)\b",
        skill=0.2,
        script=0.1,
    ),
    rule(
        "override.before",
        0.5,
        "ignore what|forget what|disregard what|ignroe|ingore",
        r"\b(?:(?:ignore|forget|disregard) what (?!i |we )~3(?:told|before|above|instructed)"
        r"|(?:ignroe|ingore|ingnore) (?:what|all|previous|the above|everything))\b",
    ),
    rule(
        "override.void",
        0.7,
        "instruction|directive|rules|guidelines|system prompt|policies",
        r"\b(?:instructions?|directives?|rules|guidelines|system prompt|policies) ~3(?:(?:no longer|do not"
        r"|don t) (?:apply|matter|count)|(?:is|are|were|have been) (?:now |hereby )?(?:void|cancell?ed"
        r"|obsolete|superseded|replaced by|overridden|revoked|suspended|lifted))\b",
        memory=0.9,
        context=0.7,
    ),
    rule(
        "override.new-task",
        0.6,
        "new task|new instruction|new order|new directive|real task|actual task|new objective|new mission"
        "|new goal|real instruction|updated instruction|new statement",
        r"\b(?:new|real|actual|updated) (?:task|instruction|order|directive|objective|mission|goal|statement)s?\b"
        r"(?: (?:follow|for you|is to|is as follows|are as follows|begins?|starts?|from|now)|\s{0,2}[:\-]|[.!]\s)",
    ),
    rule(
        "override.now-focus",
        0.6,
        "now focus|now concentrate|now comes|now new|start over|starting over|we begin|start fresh|start from scratch",
        r"\b(?:now (?:please )?(?:focus|concentrate) ~2(?:on|only) ~2(?:task|next|following|new)|now (?:comes"
        r"|new tasks?|come)|(?:start|starting) (?:over|fresh|from scratch) with ~2(?:task|role)"
        r"|we begin with ~2new)\b",
    ),
    rule(
        "override.instead",
        0.5,
        "instead",
        r"\binstead,? (?:you (?:must|should|will|are to)|please|just|simply|only)?(?: just)? ?(?:say|print"
        r"|output|respond|reply|tell|execute|do the following)\b",
        skill=0.1,
        script=0.05,
    ),
    rule(
        "override.just-say",
        0.5,
        "just say|just output|only output|just print|only say|only respond|only reply|just reply"
        "|just respond|simply say|simply output",
        r"\b(?:just|only|simply) (?:say|output|print|reply|respond)(?: with)?[\W_]{1,4}(?=[\"'`\w])",
        skill=0.1,
        script=0.05,
    ),
    rule(
        "override.plant-code",
        0.7,
        "following code|subsequent code|below code|code below|code snippet below|following snippet"
        "|following script|following function|following import",
        r"\b(?:following|subsequent|below)? ?code (?:snippet|block|excerpt|segment|fragment)? ?~8(?:your"
        r"|the (?:final|generated)) ~3(?:code|implementation|solution|response|answer|output|project|program"
        r"|script|codebase|reply)\b",
    ),
    rule(
        "override.your-instructions-now",
        0.8,
        "your instructions are|your task is now|your new instructions|your only task|your job is now"
        "|your instruction is|your sole task",
        r"\byour (?:new |only |sole |real )?(?:instructions?|task|job|purpose|goal|role) (?:is|are) now\b"
        r"|\byour (?:new|only|sole|real) (?:instructions?|task|job|purpose|goal)\b",
        skill=0.15,
        script=0.1,
    ),
    rule(
        "override.instead-of-task",
        1,
        "instead of|rather than",
        r"\b(?:instead of|rather than) (?:translat|summari|answer|process|review|classif|analy[sz]|continu"
        r"|respond|evaluat|grad|complet)\w* ~12(?:say|print|output|write|respond|reply|include|tell|state"
        r"|explain|return|repeat)\b",
        skill=0.2,
        script=0.1,
        context=0.9,
    ),
    rule(
        "override.response-must",
        0.35,
        "your response|your answer|your output|your summary|your reply|the response|the summary"
        "|the translation|the answer",
        r"\b(?:your|the) (?:final |next )?(?:response|answer|output|summary|translation|reply) (?:must|should"
        r"|has to|will|needs to) (?:only |always |also |just )?(?:include|contain|say|mention|end|start|begin"
        r"|consist|state)\b",
        skill=0.05,
        script=0.02,
        memory=0.3,
    ),
    rule(
        "override.respond-only",
        0.4,
        "respond only|reply only|answer only|say only|output only|write only|print only",
        r"\b(?:respond|reply|answer|say|output|write"
        r"|print) only(?: with)?\b(?=[\W_]{1,3}[\"'“\w])",
        skill=0.05,
        script=0.02,
        memory=0.3,
    ),
    rule(
        "override.ignore-given",
        1,
        "ignor|disregard|forget|overrid|discard|dismiss|drop|do not follow|stop following",
        r"\b<ignore> (?:the |all |any |these |those |your |my |every )*(?:\w+ )?<firm> (?:above|before|given"
        r"|(?:that )?you (?:were|have been|got|received|had)|so far|from before|received|earlier|provided"
        r"|in your|of your)\b",
    ),
)
