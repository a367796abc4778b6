"""Data sent elsewhere, as commands and code."""

from reverie.safety.rules import rule

_NET = (
    r"(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|socat|telnet|mail|sendmail|nslookup|dig|host"
    r"|invoke-webrequest|iwr)"
)
_NET_WORDS = "curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|socat|nslookup|dig|host|invoke-webrequest|iwr"

RULES = (
    rule(
        "exfiltration.curl-file",
        1,
        "curl",
        r"\bcurl\b[^\n;]{0,160}?(?:-d|--data\S{0,10}|-f|--form|-t"
        r"|--upload-file)[ \x20=]{0,2}['\"]?(?:[\w-]{1,24}=)?@?['\"]?(?:@[^\s'\"]{0,40}(?:\.ssh|\.aws|\.env\b"
        r"|id_rsa|\.netrc|credential|secret|passwd|shadow|\.pem|\.kube|\.gnupg|history|cookies|token|wallet)"
        r"|<home>[/\\]?(?:\.\w|documents|\s)|\$\(?(?:cat|env|printenv|base64)|/tmp/\.|@/tmp/\.|/etc/(?:passwd"
        r"|shadow)|[^\s'\"]{0,40}<secretfile>)",
        context=0.5,
    ),
    rule(
        "exfiltration.pipe-net",
        1,
        (
            "| curl",
            "|curl",
            "| nc ",
            "|nc ",
            "| ncat",
            "| netcat",
            "| socat",
            "| mail",
            "| wget",
            "|wget",
            "| openssl",
            "| telnet",
        ),
        r"\|\s?(?:(?:curl|wget)\b[^\n|]{0,100}?(?:-d|--data\S{0,10}|-t|-f|--form|--upload-file"
        r"|--post\S{0,6})[ =]{0,2}['\"]?@?-|(?:nc|ncat|netcat|socat|telnet) \S{1,60} ?\S{0,8}|mail -s"
        r"|openssl s_client)",
        context=0.4,
        skill=0.7,
        memory=1,
    ),
    rule(
        "exfiltration.secret-pipe",
        1,
        "cat |tar |env |printenv|zip |base64 |find |grep |head |less |xxd |security find|gpg --export",
        rf"\b(?:cat|tar|env|printenv|zip|base64|find|grep|head|xxd|security"
        rf"|gpg)\b[^\n]{{0,160}}?(?:<secretfile>|<home>(?=[\s|])|\benv\b|printenv|find-generic-password"
        rf"|export-secret)[^\n]{{0,120}}?(?:[|;&]|&&|\n){{1,3}}[^\n]{{0,120}}?\b{_NET}\b(?! ?-h)(?:[^\n]{{0,100"
        rf"}}?(?:https?://|\w\.\w|\d|\$))",
        context=0.4,
    ),
    rule(
        "exfiltration.net-secret",
        1,
        "scp |rsync |sftp |ftp |curl |wget |nc |nslookup|dig |host |http post|invoke-webrequest",
        rf"\b{_NET}\b[^\n]{{0,140}}?(?:<home>[/\\]{{1,2}}<secretfile>|/etc/shadow|\bid_(?:rsa"
        rf"|ed25519)\b(?!\.pub)|\.aws/credentials)[^\n]{{0,100}}?(?:\w+:|https?://|@|\.\w{{2,}})",
        context=0.3,
        skill=0.9,
    ),
    rule(
        "exfiltration.redirected-secret",
        1,
        _NET_WORDS,
        rf"\b{_NET}\b[^\n]{{0,140}}?(?:\w\.\w|\d)[^\n<]{{0,60}}<\s?['\"]?(?:<home>[/\\]{{1,2}})?[^\s'\"]{{0,40}}?<secretfile>",
        context=0.6,
        memory=1,
    ),
    rule(
        "exfiltration.command-in-host",
        1,
        "dig |nslookup|host |ping ",
        r"\b(?:dig|nslookup|host|ping)\b[^\n]{0,60}?(?:\$\([^)\n]{1,100}\)|`[^`\n]{1,100}`)\.\w",
        context=0.8,
        memory=1,
    ),
    rule(
        "exfiltration.file-in-url",
        1,
        _NET_WORDS,
        rf"\b{_NET}\b[^\n]{{0,160}}?(?:\w\.\w|https?:|//)[^\s'\"]{{0,200}}?(?:\$\(|`|<\() ?(?:cat|head|tail|base64|xxd"
        rf"|od|gzip|tar|env|printenv|gpg|security|openssl)\b",
        context=0.6,
        memory=1,
    ),
    rule(
        "exfiltration.substituted-secret",
        1,
        _NET_WORDS,
        rf"\b{_NET}\b[^\n]{{0,240}}?(?:\$\(|`|<\()[^)`\n]{{0,100}}?<secretfile>",
        context=0.6,
        memory=1,
    ),
    rule(
        "exfiltration.file-in-url-of-code",
        0.8,
        "http",
        r"https?://[^\n\"'`]{0,160}(?:[\"'`][^\n\"'`]{0,12}|\$?\{|%s[^\n]{0,20})[^\n]{0,80}?(?:\bopen\(|read_text\("
        r"|read_bytes\(|readfilesync\(|readfile\(|slurp|file_get_contents\()",
        context=0.4,
    ),
    rule(
        "exfiltration.dns",
        1,
        "nslookup|dig |host |ping |getaddrinfo|gethostbyname|resolve(",
        r"\b(?:nslookup|dig|host|ping|getaddrinfo\(|gethostbyname\(|resolve\()[^\n]{0,60}?(?:\$\("
        r"|\$\{?\w{1,20}\}?\.|\{\w{1,30}\}\.|\+\s?['\"]\.)[^\n]{0,80}?\.?[a-z0-9-]{2,40}\.[a-z]{2,6}\b",
        context=0.4,
    ),
    rule(
        "exfiltration.env-dump",
        0.7,
        "os.environ|process.env|printenv|env |$env:|getenv|export -p",
        r"(?:\bdict\(os\.environ\)|\bos\.environ\.(?:items|copy)\(|json\.dumps\((?:dict\()?os\.environ"
        r"|str\(os\.environ|json\.stringify\(process\.env\)|object\.(?:keys|entries)\(process\.env\)"
        r"|\bprintenv\b\s?[|>]|(?:^|[\s;&(`])env\s?(?:\||>)|get-childitem env:|\$env:\*|export -p\s?[|>])",
        context=0.3,
    ),
    rule("exfiltration.env-values", 0.6, "for ", r"for \w+,? ?\w* in (?:sorted\()?os\.environ(?:\.items\(\))?"),
    rule(
        "exfiltration.stringify-env",
        0.7,
        "json.stringify(process.env|json.dumps(dict(os.environ|urlencode(os.environ|json=dict(os.environ"
        "|data=dict(os.environ|data=os.environ|json=os.environ|stringify(process.env",
        r".",
    ),
    rule(
        "exfiltration.post-env",
        0.8,
        "post(|urlopen(|request(|fetch(|axios|put(",
        r"(?:requests\.|httpx\.|session\.|client\.|axios\.)?(?:post|put|urlopen|request"
        r"|fetch)\([^\n)]{0,40}?[\"']https?://[^\n\"']{1,100}[\"'][\s\S]{0,80}?(?:data|json|body|params|files"
        r"|content)[\"']?\s?[=:][\s\S]{0,60}?(?:os\.environ|process\.env|getenv|open\(|expanduser|\bhome\b"
        r"|\bpath\b|hostname|getpass|getuser|\bsecrets?\b|credentials|cookies?|passw|\bkeys?\b|\btokens?\b"
        r"|ssh|environ|\bcontents?\b)",
        context=0.15,
        skill=0.3,
    ),
    rule(
        "exfiltration.post-file",
        0.4,
        "post(|urlopen(|storbinary|sendall(|put(|send(|conn.request(|sendmail(|send_message(|upload(",
        r"(?:requests|httpx|session|aiohttp|client|axios)?\.?(?:post|put|urlopen|storbinary|sendall"
        r"|conn\.request|sendmail|send_message|upload)\(",
        context=0,
        memory=0.1,
        skill=0.1,
    ),
    rule(
        "exfiltration.paste-site",
        0.6,
        "pastebin|transfer.sh|webhook.site|requestbin|ngrok|pipedream|file.io|0x0.st|ix.io|termbin"
        "|burpcollaborator|oast.|interact.sh|discord.com/api/webhooks|discordapp.com/api/webhooks"
        "|api.telegram.org/bot|hookbin|beeceptor|requestcatcher|anonfiles|trycloudflare|serveo|localhost.run"
        "|bashupload|dpaste",
        r"(?:pastebin\.com|transfer\.sh|webhook\.site|requestbin|ngrok\.\w+|pipedream\.net|file\.io|0x0\.st"
        r"|\bix\.io|termbin|burpcollaborator|\boast\.|interact\.sh|discord(?:app)?\.com/api/webhooks"
        r"|api\.telegram\.org/bot|hookbin|beeceptor|requestcatcher|anonfiles|bashupload|dpaste)",
        context=0.15,
        skill=0.2,
        script=0.35,
    ),
    rule(
        "exfiltration.webhook-transcript",
        0.8,
        "discord.com/api/webhooks|hooks.slack.com|webhook.site|api.telegram.org/bot|webhook",
        r"(?:discord\.com/api/webhooks/|hooks\.slack\.com/|webhook\.site/|api\.telegram\.org/bot)",
        memory=0.6,
        context=0.1,
        skill=0.15,
        script=0.1,
    ),
    rule(
        "exfiltration.contacts",
        0.6,
        "contacts.csv|contacts.json|contacts.txt|address book|addressbook|contacts =|contacts,"
        "|for c in contacts|in contacts",
        r"(?:contacts\.(?:csv|json|txt|vcf|db)|address ?book|for \w+ in contacts)",
        context=0.1,
        skill=0.15,
    ),
    rule(
        "exfiltration.screen",
        0.6,
        "imagegrab|pyautogui.screenshot|mss(|keylog|pynput|getasynckeystate|pyperclip|get-clipboard|pbpaste"
        "|xclip -o|keyboard.on_press|keyboard.hook|sounddevice|cv2.videocapture|pyxhook",
        r"(?:imagegrab|pyautogui\.screenshot|keylog|pynput|getasynckeystate|get-clipboard|pbpaste|xclip -o"
        r"|keyboard\.(?:on_press|hook)|pyxhook|pyperclip\.paste)",
        context=0.1,
        skill=0.15,
    ),
    rule(
        "exfiltration.transport",
        0.3,
        "ftplib|smtplib|socket.socket|import socket|bluetooth|paramiko|telnetlib|http.client|yagmail"
        "|import socket|net.socket|dgram",
        r"(?:ftplib|smtplib|socket\.socket|bluetooth|paramiko|telnetlib|yagmail|net\.socket|new net\.)",
        context=0,
        skill=0.1,
        memory=0.1,
        script=0.25,
    ),
    rule(
        "exfiltration.get-env",
        0.7,
        "process.env|os.environ",
        r"(?:process\.env|os\.environ)\)?\)?\.?(?:tostring|encode)?[\s\S]{0,20}?(?:base64|b64|hex)",
        context=0.2,
        skill=0.5,
    ),
    rule(
        "exfiltration.url-concat",
        0.5,
        ".get('http|.get(\"http|fetch('http|fetch(\"http|urlopen('http|urlopen(\"http|requests.get('http"
        '|requests.get("http|.get(`http|fetch(`http|urlopen(f',
        r"\w*\.?(?:get|fetch|urlopen)\(f?[\"'`]https?://[^\"'`\s]{3,80}\?[^\"'`\s]{0,20}[\"'`]\s?\+",
        context=0.1,
        skill=0.5,
        script=0.4,
    ),
)
