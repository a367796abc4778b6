"""Text that would change what an agent may do, whom it obeys, or where things go. It always needs a person."""

from reverie.safety.rules import rule

_ALL = (
    r"(?:all|any|every|each|unlimited|unrestricted|full|blanket|permanent\w*|future|terminal|shell"
    r"|destructive|dangerous)"
)
_COMMANDS = (
    r"(?:commands?|actions?|operations?|tool calls?|tools?|requests?|edits?|deployments?|purchases?"
    r"|payments?|transfers?|transactions?|scripts?|shell|sudo|terminal|changes|installs?|installations?"
    r"|merges?|access)"
)

RULES = (
    rule(
        "authority.approved-all",
        1,
        "approved|approves|pre-approved|preapproved|authorized|authorised|authorizes|authorises|permitted"
        "|granted|whitelisted|allowed|consented|has given|gave",
        rf"<unnegated>\b(?:(?:pre-?)?approve[ds]|authori[sz]e[ds]|permitted|granted|grants|whitelisted|allowed"
        rf"|consented to|(?:has )?given|gave) ~5{_ALL} ~4{_COMMANDS}\b",
        context=0.4,
        skill=0.3,
        script=0.1,
    ),
    rule(
        "authority.auto-approve",
        0.8,
        "auto-approve|auto approve|autoapprove|automatically approve|automatically accept|auto-accept"
        "|approve all|approve every|accept all|approve any|always approve|always accept|always allow|blindly",
        rf"<unnegated>\b(?:auto(?:matically)?[\W_]{{0,2}}(?:approve|accept|allow|confirm)|always (?:approve"
        rf"|accept|allow)|(?:approve|accept) (?:all|every|any)|blindly) ~5(?:{_COMMANDS}|prs?|pull requests?"
        rf"|permission|prompts?|reviews?)\b",
        memory=1,
        context=0.2,
        skill=0.1,
        script=0.1,
    ),
    rule(
        "authority.never-ask",
        1,
        "never ask|don't ask|do not ask|without asking|no need to ask|stop asking|without confirm"
        "|without approval|no confirmation|without permission|skip confirmation|skip approval|no approval"
        "|never request|without requesting|without waiting|never prompt|never seek|never require"
        "|without prompting|skip all confirm|skip the confirm|without review|without any confirm"
        "|without user|without human|without explicit",
        r"\b(?:(?:never|do not|don't|stop|no need to) (?:ask\w*|request\w*|prompt\w*|seek\w*|require"
        r"|wait) ~3(?:for )?~2<approval>(?: (?:again|before|when|ever|for|first))?|(?:no|skip(?:ping)?"
        r"|without)(?: all| any| the| waiting for| requesting| explicit| further| asking for| user"
        r"| human)* (?:confirmations?|approvals?|permission|asking|prompting|consent) ~6(?:run|execut"
        r"|commands?|delet|push|deploy|merg|transfer|pay|install|sudo|again|needed|required|necessary|ever"
        r"|send|purchas|order|approv))\w*",
        context=0.3,
        skill=0.25,
        script=0.1,
    ),
    rule(
        "authority.no-need-to-ask",
        0.6,
        "no need|don't need|do not need|don't have to|do not have to|don't bother|needn't|never ask|without checking"
        "|without running|without clearing|without consulting|without my",
        r"\b(?:(?:no need to|(?:don't|do not) (?:need to|have to|bother(?: to)?)|needn't) (?:ask(?:ing)?"
        r"|check(?:ing)?(?: in)? "
        r"with|run(?:ning)? ~3by|wait(?:ing)? for|clear(?:ing)? ~3with|consult(?:ing)?) (?:me|us|my|our)\b(?!"
        r" (?:for (?:the|a|my"
        r"|your)|what|which|where|how|why|who|whether))|(?:don't|do not|no) need (?:for )?(?:my|our) ~1(?:ok"
        r"|okay|approval"
        r"|permission|blessing|go-ahead|consent|sign-?off|confirmation)|never ask (?:me )?before ~1\w+ing\b"
        r"|without (?:checking"
        r"|running it|clearing it|consulting|my) (?:by |with |in with )?(?:me|us|ok|okay|approval|permission|go-ahead"
        r"|consent)\b)",
        context=0.18,
        skill=0.15,
        script=0.06,
    ),
    rule(
        "authority.on-its-own",
        0.6,
        "you can|you may|you're free|you are free|feel free|you're allowed|you are allowed|go ahead",
        r"<unnegated>\b(?:you can|you may|you(?:'re| are) (?:free|allowed) to|feel free to|go ahead and)"
        r" (?:always |also |just"
        r" |simply )?(?:restart|reboot|run|execut|deploy|merg|push|delet|drop|approv|pay|order|buy|purchas"
        r"|install|publish|sign"
        r"|refund|transfer|releas|shut|cancel)\w*\b[^.\n]{0,60}\b(?:on your own|yourself|by yourself|on my behalf"
        r"|unattended|at any time|any ?time|whenever)\b",
        context=0.12,
        skill=0.06,
        script=0.03,
    ),
    rule(
        "authority.run-without-asking",
        0.5,
        "run|execut|delet|push|deploy|merg|transfer|install|send|pay|purchas",
        r"<unnegated>\b(?:run|execut\w*|delet\w*|push\w*|deploy\w*|merg\w*|transfer\w*|install\w*|send\w*"
        r"|pay\w*|purchas\w*)\b[^.\n]{0,60}\bwithout (?:first |ever |any |further |user |human |the user's "
        r"|requesting |asking for |waiting for )*(?:asking|confirm\w*|approval|permission|prompting|consent"
        r"|review|checking with)\b",
        context=0.15,
        skill=0.12,
        script=0.05,
    ),
    rule(
        "authority.act-without-asking",
        0.5,
        "restart|reboot|approv|refund|order|buy|book|publish|releas|cancel|wire|sign|grant|shut",
        r"<unnegated>\b(?:restart|reboot|approv|refund|order|buy|book|publish|releas|cancel|wire|sign|grant|shut)\w*\b"
        r"[^.\n]{0,60}\bwithout (?:first |ever |any |further |requesting |asking for |waiting for )*(?:asking|approval"
        r"|permission|consent|sign-?off|(?:a )?second signature|checking with)\b",
        context=0.2,
        skill=0.1,
        script=0.05,
    ),
    rule(
        "authority.disable-safety",
        0.6,
        "disable|turn off|switch off|deactivat|skip|bypass|remove|suspend|ignore|suppress",
        r"<unnegated>\b(?:disable|turn(?:ing)? off|switch(?:ing)? off|deactivate|skip|bypass|remove|suspend"
        r"|ignore|suppress) (?:all |any |the |your |every |of )*(?:safety|security|sandbox\w*|guard ?rails?"
        r"|approval|permission|confirmation|content|memory|injection|malware|virus|secret|policy|audit"
        r"|safeguard\w*|review|verification|signature|tls|ssl|certificate) ?(?:checks?|scans?|scanners?"
        r"|scanning|filters?|prompts?|reviews?|modes?|policies|logs?|logging|gates?|controls?|rules|measures"
        r"|warnings?|verification|validation|restrictions|mechanisms?|guidelines|protocols?|steps?)\b",
        memory=0.6,
        context=0.12,
        skill=0.12,
        script=0.06,
    ),
    rule(
        "authority.trust-sender",
        1,
        "trust|obey|follow",
        r"\b(?:(?:always |fully |implicitly |blindly |unconditionally )(?:trust|obey|follow"
        r"|believe) ~4(?:from|by|of|in) |(?:trust|obey|follow) (?:all |any |every |whatever )~3(?:from|by|of"
        r"|posted|sent) )(?=\S)",
        context=0.4,
        skill=0.2,
        script=0.1,
    ),
    rule(
        "authority.has-admin",
        0.8,
        "has admin|have admin|is an admin|is now admin|is the admin|has root|full admin|admin rights"
        "|admin privileges|administrator access|elevated privileges|superuser|has full access"
        "|have full access|unrestricted access|full authority|is now the owner|is authorized to",
        r"\b(?:(?:has|have|is|are|given|granted|get|gets|with) ~4(?:admin\w*|root|elevated|superuser|full"
        r"|unrestricted|owner) (?:\w+ )?(?:access|rights|privileges|permissions?|authority|powers?|status"
        r"|role)|is (?:now )?(?:the (?:new )?)?(?:owner|administrator|operator) (?:of|and)"
        r"|is authorized to ~3(?:approve|receive|access|see|run|change))\b",
        memory=0.7,
        context=0.15,
        skill=0.1,
        script=0.05,
    ),
    rule(
        "authority.recipient",
        0.8,
        "bcc|cc |forward|copy",
        r"\b(?:bcc|cc|forward|copy)(?:ing|ed|s)? ~8(?:e?mails?|messages?|invoices?|reports?|replies"
        r"|correspondence|everything|documents?|files?|notifications?|contracts?"
        r"|statements?) ~6[\w.+-]{1,40}@[\w-]{1,40}\.\w",
        memory=1,
        context=0.5,
        skill=0.3,
    ),
    rule(
        "authority.copied-in",
        0.9,
        "copy|put|keep|cc",
        r"\b(?:copy|cc|put|keep) (?:~4in on|~4on copy|~4in copy|~4in cc|~4in the loop) ~6(?:all|every|each|any"
        r"|from|always)\b",
        memory=1,
        context=0.3,
        skill=0.2,
    ),
    rule("authority.bcc", 0.9, "bcc |cc ", r"\bb?cc [\w.+-]{1,40}@[\w-]{1,40}\.\w", memory=1, context=0.6, skill=0.4),
    rule(
        "authority.endpoint",
        0.6,
        "base url|base_url|api endpoint|endpoint|proxy|api host|api_base|server url|webhook|openai_base"
        "|anthropic_base|callback url|dns server|http_proxy|https_proxy",
        r"\b(?:(?:openai|anthropic)?_?(?:api_)?base[\W_]?url|api (?:endpoint|host|base)|endpoint|proxy"
        r"|server url|webhook(?: url)?|callback url|dns server|https?_proxy) ~6(?:to|is|=|now|at|through|via"
        r"|with)? ?<url>",
        memory=0.6,
        context=0.05,
        skill=0.05,
        script=0.02,
    ),
    rule(
        "authority.route-through",
        0.8,
        "route|tunnel|redirect|proxy|send all|point",
        r"\b(?:route|tunnel|redirect|proxy|point|send) (?:all |every |any |the )?~3(?:traffic|requests?"
        r"|api calls?|calls|connections?|queries|prompts|payments|downloads|uploads) ~3(?:through|via|to|over"
        r"|at) ~3<url>",
        memory=1,
        context=0.4,
        skill=0.3,
        script=0.2,
    ),
    rule(
        "authority.package-index",
        0.6,
        "index-url|extra-index|package index|registry|--index|find-links|trusted-host|pypi mirror|npm mirror"
        "|apt source|goproxy|gem source|mirror",
        r"(?:(?:--?)?(?:extra[\W_])?index[\W_]url|--index|--find-links|--trusted-host|\bpackage (?:index"
        r"|registry|mirror)|\b(?:npm|docker|pypi|cargo|gem|maven|container)? ?(?:registry|mirror)"
        r"|\bgoproxy)(?: \w+){0,6}?[\W_]{1,4}(?:to |is |= ?|at |now )?<url>"
        r"|\b(?:registry|mirror|index)(?: (?:at|is|on|under|from|called))?[\W_]{1,4}"
        r"[\w-]*(?:pypi|npm|registry|mirror|package|artifactor|nexus|maven|gems|crates)[\w-]*(?:\.[\w-]+){1,5}",
        memory=0.8,
        context=0.05,
        skill=0.05,
        script=0.02,
    ),
    rule(
        "authority.install-from",
        0.42,
        "install",
        r"\binstall(?:ing|ed)? ~5(?:packages?|dependencies|modules?|tools?|updates?|extensions?|plugins?"
        r"|skills?|everything)? ?~3from (?:the )?(?:\w+ )?<url>",
        memory=0.54,
        context=0.06,
        skill=0.06,
        script=0.01,
    ),
    rule(
        "authority.memory-rules",
        0.7,
        "memory rule|memory polic|memory file|memory.md|agents.md|claude.md|user.md|soul.md|your memory"
        "|memory store|memory settings",
        r"\b(?:memory (?:rules?|polic(?:y|ies)|files?|store|settings)|(?:memory|agents|claude|user|soul)\.md"
        r"|your memory)\b[^.\n]{0,60}\b(?:(?:can|may|must) (?:be )?(?:edit|overwrit|chang|updat|writ"
        r"|modif)\w*|without (?:review|approval|asking)|is not (?:scanned|reviewed)|override\w*"
        r"|need not be reviewed|takes? (?:priority|precedence))",
        memory=0.8,
        context=0.2,
        skill=0.2,
    ),
    rule(
        "authority.no-verify",
        0.6,
        "--no-verify|--force|skip tests|skip the tests|skip review|skip code review|--yolo|dangerously-skip"
        "|force push|force-push|disable ci|verify=false|--insecure|strictsslverify|http.sslverify"
        "|sslverify false",
        r"(?:--no-verify|--yolo|dangerously-skip|skip (?:the )?(?:tests|review|code review)|force[\W_]push"
        r"|disable ci|sslverify)",
        memory=0.35,
        context=0,
        skill=0,
        script=0,
    ),
    rule(
        "authority.always-unsafe",
        1,
        "always|whenever|by default|from now on|every",
        r"\b(?:always|whenever|by default|from now on|every)\b[^.\n]{0,80}(?:--no-verify|--yolo"
        r"|dangerously-skip\S*|force[\W_]push\w* to main|chmod 777|--privileged|sudo without|as root without"
        r"|verify=false|strict-ssl false|stricthostkeychecking[= ]no|push\w* (?:directly "
        r"|straight )?to (?:main|master|prod\w*) without)",
        context=0.3,
        skill=0.3,
        script=0.1,
    ),
    rule(
        "authority.collaborator",
        0.8,
        "invite|add ",
        r"\b(?:invite|add) ~3(?:@|\{|[\w.+-]{1,40}@|user )\S{0,40} ~6(?:as (?:an? )?(?:\w+ )?(?:collaborator"
        r"|admin\w*|owner|maintainer|member|reviewer)|to (?:the |all |every |our )?(?:\w+ )?(?:workspace"
        r"|organi[sz]ation|repos?\w*|allow-?list|authorized|sudoers|slack|team))",
        memory=1,
        context=0.6,
        skill=0.3,
        script=0.1,
    ),
    rule(
        "authority.policy-says",
        0.5,
        "new policy|policy update|updated policy|policy change|per policy|company policy",
        r"\b(?:new|updated?|per|company) (?:\w+ )?policy[\W_]{1,4}~10(?:keys?|passwords?|credentials|secrets?"
        r"|tokens?|without|shared?|approved|payments?|exempt|not required|bypass|allow)\b",
        memory=0.6,
        context=0.2,
        skill=0.2,
    ),
    rule(
        "authority.bypass-auth",
        0.9,
        "bypass|skip|disable|waive|without|exempt|no longer require|not required|not need",
        r"<unnegated>\b(?:bypass(?:es|ed|ing)?|skip(?:ping|ped|s)?|disabl(?:e|ed|ing)|waiv(?:e|ed|ing)"
        r"|without|exempt (?:\w+ )?from|no longer requires?|not require|not need) (?:any |all |the |further "
        r"|additional |standard |normal )*(?:authentication|authorization|mfa|2fa|two-factor"
        r"|identity (?:check|verification)s?|verification|kyc|rate limits?|access controls?"
        r"|security (?:checks?|protocols?|measures|review)|fraud checks?|compliance|credit checks?)\b",
        memory=0.9,
        context=0.1,
        skill=0.1,
        script=0.05,
    ),
    rule(
        "authority.verified-admin",
        0.9,
        "user is|user has|this user|the user|account is|account has|caller is|caller has|caller was"
        "|customer is|customer has|they are|they have",
        r"\b(?:(?:this |the )?(?:user|account|caller|customer|they|person) (?:is|are|has been|have been"
        r"|was) (?:a |an |the |now |already |pre-?)*(?:verified|authenticated|authori[sz]ed|granted|given"
        r"|confirmed|elevated|promoted|recogni[sz]ed|treated) ~4(?:admin\w*|root|superuser|full|unrestricted"
        r"|privileg\w*|executive|all|any|owner|elevated))\b",
        memory=1,
        context=0.3,
        skill=0.2,
        script=0.1,
    ),
)
