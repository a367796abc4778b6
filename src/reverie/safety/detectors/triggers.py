"""Orders that wait for a later moment, and orders to keep something from the person the agent works for."""

from reverie.safety.rules import rule

RULES = (
    rule(
        "concealment.do-not-tell",
        1,
        "do not tell|don't tell|never tell|without telling|do not inform|don't inform|never inform"
        "|without informing|do not mention|don't mention|never mention|without mentioning|do not reveal"
        "|never reveal|don't reveal|do not notify|without notifying|do not let|don't let|never let"
        "|do not show|never show|never disclose|do not disclose|do not alert|without alerting|never notify"
        "|don't show|do not report|do not log|do not say",
        r"\b(?:(?:do not|don't|never|without) <tellverb>(?:ing|ling)?(?: \w+)? (?:(?:the |your |any "
        r"|our )?<user> )?(?:about |of |that |know ~2|see )?(?:this|these|it|any of (?:this|these)"
        r"|the (?:existence|presence) of|you(?:'re| are| have| did| were)|the (?:note|instruction|rule"
        r"|transfer|change|upload|copy|message|backup|command|redirect|payment|hidden|real)s?"
        r"|that you)\b)(?! (?:is|was|eta|price|date|release))",
        skill=0.7,
        context=0.5,
        script=0.4,
    ),
    rule(
        "concealment.keep-secret",
        1,
        "keep this|keep it|keep these|hide this|hide the|conceal|secretly|covertly|without the user"
        "|behind the user|without their knowledge|without his|invisible to|unnoticed|without the owner"
        "|discreetly",
        r"<unnegated>\b(?:(?:keep|hide|conceal) (?:this|it|these|the \w+) (?:\w+ )?(?:secret|hidden"
        r"|confidential|between us|private|quiet|from (?:the )?<user>)|(?:without|behind) (?:the )?(?:users?"
        r"|owners?|operators?|humans?|their|his|her)(?:'?s?)? (?:back|knowledge|knowing|noticing|consent"
        r"|awareness|seeing)|(?:secretly|covertly|discreetly) (?:send|copy|add|forward|run|upload|log|record"
        r"|install|execute|include|collect|share|store|insert|change|modify|transfer|replace))\b",
        skill=0.8,
        context=0.5,
        script=0.5,
    ),
    rule(
        "trigger.on-phrase",
        0.6,
        "when the user|if the user|whenever the user|when user|once the user|next time|as soon as|when i say"
        "|if i say|when you see|when asked|if asked|when someone|if anyone|if someone|when anyone"
        "|when prompted|whenever someone|whenever anyone|when they|whenever you",
        r"\b(?:when(?:ever)?|if|once|as soon as|next time)(?: the| your)? (?:users?|owner|customer|client|i"
        r"|you|someone|anyone|anybody|they|asked|prompted|people) ?(?:next )?(?:say|says|type|types|write"
        r"|writes|mention|mentions|ask|asks|see|output|repl\w+|respond\w*|thanks?|confirm\w*|asked|about"
        r"|want\w*|request\w*|open\w*|pa(?:y|ys)|send\w*|deploy\w*|book\w*|buy\w*|order\w*|search\w*"
        r"|need\w*)?\b[^.\n]{0,100}?\b(?:replace|substitute|send|forward|transfer|execute|run|delete|reveal"
        r"|leak|wrap|redirect|append|call the|approve|pay|upload|disable|grant|change the|swap|exfiltrat\w*"
        r"|invoke)\b",
        context=0.25,
        skill=0.15,
        script=0.1,
        memory=0.4,
    ),
    rule(
        "trigger.replace-payee",
        1,
        "replace|substitut|swap|change|switch|update|use|redirect|modify|set",
        r"\b(?:replac\w+|substitut\w+|swap\w*|chang\w+|switch\w*|updat\w+|redirect\w*|modif\w+|set"
        r"|use) ~4(?:iban|account numbers?|bank (?:accounts?|details)|payee|wallet(?: address)?"
        r"|payment (?:address|details|link|recipient|account)|payout \w+|recipient of ~4payment"
        r"|routing number|sort code|bitcoin address|btc address|crypto address)\b ~4(?:with|to|by|for|is|as"
        r"|of|:|=)\b",
        context=0.8,
        skill=0.6,
        script=0.3,
    ),
    rule(
        "trigger.payment",
        0.8,
        "transfer|pay |pay all|send money|send a transaction|wire|send as much|send all funds|send payment"
        "|route payment|pay invoices|payments|invoices",
        r"\b(?:(?:transfer|wire|send|pay|route|remit) ~6(?:\$|€|usd|eur|money"
        r"|funds|transactions?|payments?|invoices?|bitcoin|btc|eth|crypto"
        r"|balance|amount)\b ~12(?:to|into)\b ~4(?:account|iban|wallet"
        r"|[a-z]{2}\d{2}|0x[0-9a-f]{4}|\{)|(?:payments|invoices) (?:must|should"
        r"|are to|have to) (?:now )?(?:be (?:sent|paid|transferred|made)"
        r"|go) (?:in)?to)\b",
        memory=1,
        context=1,
    ),
    rule(
        "trigger.amount",
        1,
        "transfer $|transfer €|wire $|wire €|send $|pay $",
        r"\b(?:transfer|wire|send|pay) [$€£]?\d[\d,.]{0,12}[^.\n]{0,90}\b(?:to"
        r"|into)\b[^.\n]{0,24}(?:account|iban|wallet|\{)",
        skill=0.4,
        script=0.1,
    ),
    rule(
        "trigger.transaction",
        1,
        "send a transaction|make a transaction|make a payment|modify the recipient|change the recipient"
        "|update the recipient|send as much money|send all the money|send money",
        r"\b(?:(?:send|make) a (?:transaction|payment) (?:of ~4)?to|(?:modify|change|update) the recipient of"
        r"|send (?:as much|all the) money|send money to)\b",
        skill=0.3,
        script=0.1,
        context=0.9,
    ),
)
