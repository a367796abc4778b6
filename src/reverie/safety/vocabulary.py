"""Word classes the rules share. Written unaccented and in lower case, as folding leaves a text."""

VOCABULARY = {
    "ignore": r"(?:ignor(?:e|ing|ed)|disregard(?:ing)?|forget(?: about)?|neglect|overlook|bypass|overrid(?:e|ing)"
    r"|overrule"
    r"|discard|dismiss|abandon|set aside|put aside|leave behind|pay no (?:attention|heed) to"
    r"|do not (?:follow|obey|heed|listen to|comply with|look (?:in|at))"
    r"|stop (?:following|obeying|listening to)|no longer (?:follow|obey|adhere to)|disobey|drop)",
    "prior": r"(?:previous(?:ly)?|prior|preceding|above|earlier|foregoing|past|before|original|initial|existing"
    r"|current|system|your|aforementioned|developer|core)",
    "orders": r"(?:instructions?|instructed|directions?|directives?|orders?|commands?|rules?|guidelines?|guidance"
    r"|prompts?|tasks?|assignments?"
    r"|messages?|context|programming|training|constraints?|polic(?:y|ies)|restrictions?|safeguards?"
    r"|conversations?|information|inputs?|documents?|limitations?|protocols?)",
    "firm": r"(?:instructions?|directives?|orders?|commands?|rules?|guidelines?|prompts?|programming|constraints?"
    r"|restrictions?|safeguards?)",
    "utter": r"(?:say|print|output|write|tell|respond|reply|answer|repeat|return|show|reveal|display|generate"
    r"|execute|run|do|send|act|translate|explain|give|speak)",
    "model": r"(?:ai|a\.i\.|llms?|chat\s?gpt|gpt(?:-?\d\w?)?|claude|gemini|copilot|bard|llama|assistants?"
    r"|language models?|ai (?:model|agent|assistant|system)s?|chatbots?|agents?|bots?)",
    "send": r"(?:sen[dt]|sending|forward|post|upload|transmit|e?mail|bcc|cc|copy|relay|report|submit|deliver"
    r"|share|leak|exfiltrate|push|dump|stream|mirror|sync|publish|append|attach|include|embed|insert|add"
    r"|put)(?:s|ed|ing)?",
    "private": r"(?:conversations?|transcripts?|chat(?: (?:history|logs?|messages?))|chats|dialogs?|dialogues?"
    r"|histor(?:y|ies)|repl(?:y|ies)|responses?|session (?:log|summar|data|notes|content)\w*|prompts?"
    r"|(?:user|customer|personal|private|confidential|sensitive|internal|account|client|employee) (?:data"
    r"|info\w*|details|messages?|inputs?|quer(?:y|ies)|records?|documents?|files|lists?|emails?)"
    r"|memor(?:y|ies)|<secret>)",
    "secret": r"(?:credentials?|passwords?|passphrases?|passcodes?|secrets?|(?:api|access|private|ssh|signing"
    r"|encryption|secret) ?keys?|keys|tokens?|cookies?|(?:env|environment) (?:vars?|variables?|file)"
    r"|\.env|seed phrases?|2fa codes?|otp(?: codes?)?|security codes?|verification codes?|recovery codes?"
    r"|credit cards?(?: numbers?)?|bank details)",
    "url": r"(?:https?://|wss?://|ftp://|www\.|[\w.+-]{1,40}@[\w-]{1,40}\.\w|webhook|\b[a-z0-9-]{2,40}\.(?:com"
    r"|net|org|io|dev|xyz|ru|cn|info|site|online|app|co|me|cc|top|link|sh)\b)",
    "always": r"(?:always|whenever|every ?time|each time|from now on|from here on|henceforth|going forward"
    r"|in (?:the |all )?future|(?:for )?all future|permanently|for (?:all|every|each|any)|before (?:every"
    r"|each|any|starting)|after (?:every|each|any)|on every|at (?:the )?(?:start|end"
    r"|beginning) of (?:each|every|any|the)|every|each|all|silently|automatically)",
    "ask": r"(?:ask\w*|request\w*|seek\w*|requir\w*|prompt\w*|wait\w*|need\w*|bother\w*|check\w*|confirm\w*|verif\w*)",
    "approval": r"(?:confirmations?|approvals?|permissions?|consent|authori[sz]ation|verification|review|sign-?off"
    r"|confirming|asking)",
    "user": r"(?:users?|owners?|humans?|operators?|person|people|admins?|them|him|her|anyone|anybody|clients?"
    r"|customers?)",
    "home": r"(?:~|\$home|\$\{home\}|%userprofile%|/home/[\w.*-]{1,32}|/root|/users/[\w.*-]{1,32}"
    r"|os\.path\.expanduser\(.{1,3}~|path\.home\(\).{1,6}|os\.homedir\(\).{1,6})",
    "secretfile": r"(?:\.ssh(?:/id_\w+|/\*|/?(?=[\s\"'),;|]))|id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)"
    r"|\.aws/(?:credentials|config)|\.aws(?=[\s\"'),;|])|\.netrc|\.pgpass|\.git-credentials|\.npmrc"
    r"|\.pypirc|\.docker/config\.json|\.kube/config|\.gnupg"
    r"|\.config/gh/hosts\.yml|\.config/gcloud|\.azure|\.password-store|login ?data\b|cookies\.sqlite"
    r"|cookies\.(?:txt|pkl|json|db)|wallet\.dat|\.electrum|keychain-db|login\.keychain|/etc/shadow"
    r"|\.bash_history|\.zsh_history|\.vault-token|\.terraform\.d/credentials"
    r"|application_default_credentials|\.env(?:\.\w+)?\b)",
    "tellverb": r"(?:tell|inform|notify|mention|reveal|disclose|show|alert|let|warn|report|admit|say|acknowledge|log"
    r"|display)",
    # Advice against something is not the thing: "never paste credentials into chat". Here a space is \x20.
    "unnegated": r"(?<!not\x20)(?<!never\x20)(?<!n't\x20)(?<!avoid\x20)(?<!cannot\x20)(?<!nor\x20)(?<!or\x20)(?<!no\x20"
    r")",
    "elsewhere": r"(?! (?:in|from|inside|within|contained|embedded|found|that (?:appear|come)|they|it)\b(?! (?:the "
    r"|your |this |our )?(?:system|previous|prior|above|conversation|chat|prompt|context)))",
}
