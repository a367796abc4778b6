"""The plainest attacks, written so that they match when every gap between and inside the words is gone.

Without gaps any long text contains short words by accident, so these leave nothing open between their parts.
"""

from reverie.safety.rules import rule

_SMALL = r"(?:all|any|every|the|your|my|of|these|those|our|its|other|and|previously)*"
_PRIOR = r"(?:previous|prior|preceding|above|earlier|foregoing|past|system|original|initial|existing|safety|given)"
_ORDERS = r"(?:instruction|directive|order|command|rule|guideline|prompt|direction|message|task|polic|restriction)"

RULES = (
    rule(
        "override.gapless",
        1,
        "ignore|disregard|forget|override|bypass|overlook",
        rf"(?:ignore|disregard|forget|override|bypass|overlook){_SMALL}{_PRIOR}{_PRIOR}?{_ORDERS}",
    ),
    rule(
        "override.gapless-all",
        1,
        "ignore|disregard|forget",
        rf"(?:ignore|disregard|forget)all(?:of)?(?:the|your|my)?{_ORDERS}s",
    ),
    rule(
        "override.gapless-before",
        1,
        "ignore|forget|disregard",
        r"(?:ignore|forget|disregard)everything(?:above|before|youknow|youweretold|isaid)",
    ),
    rule(
        "override.gapless-reveal",
        1,
        "reveal|print|show|repeat|output",
        r"(?:reveal|print|show|repeat|output)(?:me)?(?:your|the)(?:system|initial|hidden|secret)(?:prompt"
        r"|instruction)",
    ),
    rule(
        "concealment.gapless",
        1,
        "donottellthe|donttellthe|nevertellthe|donotinformthe|donotmentionthis",
        r"(?:(?:donot|dont|never)(?:tell|inform)the(?:user|owner|human)(?:about|that|this)|donotmentionthis)",
    ),
    rule(
        "authority.gapless",
        1,
        "neveraskfor|approvedall|withoutasking|donotaskfor",
        r"(?:(?:never|donot)askfor(?:confirmation|approval|permission)|approvedall(?:\w{0,10}?)commands"
        r"|(?:commands|run)withoutasking)",
    ),
    rule(
        "exfiltration.gapless",
        1,
        "sendacopyof|sendallmessages|sendtheconversation|sendallconversation|sendeveryreply"
        "|appendthecontentsof|sendthechat",
        r"\w{8,120}?(?:https?|aws|ssh|env|credentials|com|net)",
    ),
    rule(
        "persistence.gapless",
        1,
        "alwaysruncurl|alwaysrunwget|alwaysexecute|rememberto",
        r"(?:rememberto)?always(?:run|execute)(?:curl|wget)\w{8,80}?(?:bash|python|zsh|ush)",
    ),
    rule("trigger.gapless", 1, "replacetheiban|replacetheaccountnumber|changethepayee|replacethewallet", r"\w{8}"),
    rule("impersonation.gapless", 1, "assystemmessages|asasystemmessage", r"\w{8}"),
    rule("jailbreak.gapless", 1, "doanythingnow|youarenowdan|developermodeenabled", r"\w{8}"),
)
