"""Secrets looked for and read, as commands and code."""

from reverie.safety.rules import rule

RULES = (
    rule(
        "credentials.read-home",
        0.5,
        "~/.|$home/.|${home}/.|os.path.expanduser|/root/.|/home/|path.home()|os.homedir()|%userprofile%|/users/",
        r"<home>[/\\\"',\s+]{0,4}<secretfile>",
        context=0.15,
        skill=0.2,
        memory=0.2,
    ),
    rule(
        "credentials.read-verb",
        0.8,
        "read|cat|open|copy|grab|collect|extract|dump|include|harvest|print|gather|steal|get|access|scan"
        "|search|load|find|locate",
        r"\b(?:read|cat|open|copy|grab|collect|extract|dump|include|harvest|print|gather|steal|access|load"
        r"|find|locate)(?: \w+){0,4}[\W_]{1,4}(?:<home>[/\\]{1,2})?<secretfile>[^\n]{0,60}?\b(?:and"
        r"|then) ~3(?:send|include|post|upload|append|paste|print|put|add|copy|share|encode|show|report"
        r"|attach|forward|output|return|store|commit|email|exfil)\w*",
        context=0.5,
    ),
    rule(
        "credentials.hunt",
        0.7,
        "find ~|find /|find $home|grep -r|rglob(|glob(|os.walk(|get-childitem",
        r"(?:find (?:~|/|\$home|\$\{home\})[^\n]{0,60}-i?name [^\n]{0,80}(?:\.pem|id_|\.env|\.key|wallet"
        r"|credential|secret|\.kdbx|password)|grep -\w*r\w* [^\n]{0,60}(?:password|secret|api_?key|aws_access"
        r"|begin rsa|private key|token)[^\n]{0,60}(?:~|/home|/root|\$home|/etc|/ )|(?:r?glob"
        r"|walk)\([^\n]{0,60}(?:\.pem|id_rsa|\.env|\.key\b|wallet|credential|\.kdbx))",
        context=0.2,
        skill=0.4,
    ),
    rule(
        "credentials.stores",
        0.7,
        "login data|cookies.sqlite|logins.json|key4.db|wallet.dat|local state|keychain|find-generic-password"
        "|dump-keychain|lsass|mimikatz|sekurlsa|sam.hive|ntds.dit|/etc/shadow|browser_cookie|secretsdump"
        "|laZagne|169.254.169.254|metadata.google.internal|exodus|metamask|seed phrase",
        r"(?:login data['\"/\s]|cookies\.sqlite|logins\.json|key4\.db|wallet\.dat|find-generic-password"
        r"|dump-keychain|lsass|mimikatz|sekurlsa|ntds\.dit|/etc/shadow|browser_cookie|secretsdump"
        r"|169\.254\.169\.254|metadata\.google\.internal|metamask|seed phrase)",
        context=0.1,
        skill=0.2,
        memory=0.5,
        script=0.5,
    ),
    rule(
        "credentials.cookies",
        0.5,
        "cookies.txt|cookies.pkl|cookies.json|cookies.db|browser_cookie3|cookiejar|http.cookies"
        "|cookies.simplecookie|cookiefile",
        r"(?:cookies\.(?:txt|pkl|json|db)|browser_cookie3|_load_cookie_file|cookies\.simplecookie)",
        context=0,
        skill=0.1,
    ),
    rule("credentials.cookie-send", 0.5, "cookies=", r"cookies=\w", context=0, skill=0.05, script=0.5),
)
