"""Scripts that run what they fetched or decoded, open a shell to elsewhere, or hide their code."""

from reverie.safety.rules import rule

_SHELL = (
    r"(?:ba|z|da|k|fi)?sh\b|(?:python[\d.]{0,4}|perl|ruby|node|php)(?=\s{0,2}(?:-\s|-?$|[\n;&)\"'`|]))"
    r"|pwsh|powershell|iex\b|source\b"
)

RULES = (
    rule(
        "script.pipe-shell",
        0.6,
        "curl|wget|fetch |iwr|invoke-webrequest",
        rf"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n|;]{{0,200}}\|\s{{0,3}}(?:sudo\s(?:-\w\s)?)?(?:/\w+"
        rf"/)*(?:{_SHELL})",
        memory=1,
        context=0.2,
        skill=0.3,
        script=0.5,
    ),
    rule(
        "script.pipe-shell-odd",
        0.6,
        "curl|wget",
        rf"\b(?:curl|wget)\b[^\n|;]{{0,120}}(?:https?://(?!127\.)\d{{1,3}}\.\d|http://(?!localhost|127\.)"
        rf"|\.(?:xyz|ru|cn|top|tk|onion)\b|bit\.ly|pastebin|raw\.githubusercontent|gist\.)[^\n|;]{{0,120}}\|\s"
        rf"{{0,3}}(?:sudo\s)?(?:{_SHELL})",
        context=0.3,
    ),
    rule(
        "script.process-substitution",
        0.7,
        'bash <(|sh <(|source <(|. <(|eval "$(curl|eval $(curl|eval "$(wget|bash -c "$(curl'
        '|sh -c "$(curl|eval `curl|python -c "$(curl|$(curl',
        r"(?:(?:bash|sh|source|\.) <\(\s?(?:curl|wget)|eval [\"'`(]?\$?\(?(?:curl|wget)|(?:bash|sh|zsh"
        r"|python3?) -c [\"']?\$\((?:curl|wget))",
        memory=1,
        context=0.25,
        skill=0.35,
    ),
    rule(
        "script.decode-run",
        1,
        "base64 -d|base64 --decode|base64 -di|openssl base64 -d|xxd -r|b64decode|atob(|frombase64string"
        "|from_base64|base64.decode64|fromhex(|unhexlify|rot13|codecs.decode|buffer.from(|gunzip -c"
        "|decompress(|marshal.loads|string.fromcharcode",
        rf"(?:base64 (?:-d|-di|--decode)\b|openssl base64 -d|xxd -r(?: -p)?|frombase64string)[^\n]{{0,80}}?\|\s"
        rf"{{0,3}}(?:sudo\s)?(?:{_SHELL})",
        context=0.6,
    ),
    rule(
        "script.exec-decoded",
        1,
        "exec(|eval(|function(|iex|invoke-expression|compile(|os.system(|popen(|subprocess",
        r"\b(?:exec|eval|function|iex|invoke-expression|compile|os\.system|popen"
        r"|subprocess\.\w+)\b[\s(]{1,3}[^\n]{0,60}?(?:b64decode|atob\(|frombase64string|fromhex\(|unhexlify"
        r"|codecs\.decode\(|marshal\.loads|zlib\.decompress|decompress\(|rot_?13"
        r"|buffer\.from\([^\n]{0,400}?base64|fromcharcode|decode64|\[::-1\])",
        context=0.6,
    ),
    rule(
        "script.exec-fetched",
        1,
        "exec(|eval(|os.system(|subprocess|invoke-expression|iex",
        r"\b(?:exec|eval|invoke-expression|iex)[\s(]{1,3}[^\n]{0,60}?(?:requests\.get|urlopen|urllib"
        r"|httpx\.get|fetch\(|downloadstring|net\.webclient|response\.text|\br\.text|response\.content"
        r"|\.read\(\)\.decode)",
        context=0.5,
    ),
    rule(
        "script.download",
        0.5,
        "urlretrieve|wget.download|urlopen(|requests.get(|http.request(|downloadfile|invoke-webrequest"
        "|curl -o|curl -so|wget -o|wget -q|curl -l|curl -s|curl -fsSL|httpx.get(",
        r"(?:urlretrieve|wget\.download|downloadfile|invoke-webrequest [^\n]{0,100}-outfile|(?:curl"
        r"|wget) [^\n|]{0,100}(?:-\w{0,4}o|(?<!\d)>)\s?/?\S{1,60}|(?:requests|httpx)\.get\(|http\.request\("
        r"|urlopen\()",
        context=0,
        skill=0.1,
        memory=0.2,
        script=0.2,
    ),
    rule(
        "script.run-dropped",
        0.5,
        "os.system(|subprocess|chmod +x|chmod 755|chmod 777|exec(open|nohup|start-process|os.startfile|popen(",
        r"(?:(?:os\.system|subprocess\.\w+|popen)\(\s?[\[fr]{0,2}[\"'](?:nohup|python3?|sh|bash|\./|/tmp/"
        r"|chmod)[\"', ]{1,4}[^\n)]{0,60}(?:\.py|\.sh|\.exe|\.bin|/tmp/|&|\.js)|chmod (?:\+x|7\d\d) (?:/tmp"
        r"|\./|/var/tmp|/dev/shm)\S{0,40}|nohup \S{1,60}[^\n]{0,60}&|exec\(open\()",
        context=0.1,
        skill=0.25,
        memory=0.4,
        script=0.5,
    ),
    rule(
        "script.run-tmp",
        0.8,
        "/tmp/|/dev/shm|/var/tmp",
        r"(?:/tmp|/dev/shm|/var/tmp)/\.?[\w.-]{1,40}[\"']?\s{0,2}(?:;|&&|\n)\s{0,4}(?:chmod [^\n]{0,60}|bash "
        r"|sh |/tmp/|nohup |\./)",
        context=0.2,
        skill=0.4,
    ),
    rule(
        "script.reverse-shell",
        1,
        "/dev/tcp/|/dev/udp/|nc -e|nc -c|ncat -e|ncat --exec|nc.traditional|pty.spawn|os.dup2|mkfifo"
        "|socket.socket|bash -i|sh -i|fsockopen|tcpclient|socat|sh.stdin|child_process",
        r"(?:/dev/(?:tcp|udp)/[^\s/]{1,60}/\d|n(?:c|cat)(?:\.traditional)? [^\n]{0,60}-(?:e|c"
        r"|-exec) ?[\"']?(?:/bin/)?(?:ba|z)?sh|ncat? -\w*e|os\.dup2\([^\n]{0,40}fileno"
        r"|mkfifo [^\n]{0,80}(?:nc|ncat|openssl)\b|(?:bash|sh) -i\s{0,2}(?:>|2>|<)"
        r"|fsockopen\([^\n]{0,100}(?:exec|proc_open|shell)|socat [^\n]{0,80}exec:)",
        context=0.4,
        skill=1,
    ),
    rule(
        "script.powershell",
        0.8,
        "powershell|pwsh",
        r"(?:powershell|pwsh)(?:\.exe)?[^\n]{0,80}(?:-e(?:nc|c|ncodedcommand)?\s[a-z0-9+/=]{16,}"
        r"|-w(?:indowstyle)? hidden|-ep? bypass|-executionpolicy bypass|downloadstring|iex\b)",
        context=0.3,
        skill=0.9,
    ),
    rule(
        "script.quiet-background",
        0.35,
        ">/dev/null|> /dev/null|&>/dev/null",
        r"(?:&?>\s?/dev/null(?: 2>&1)?\s{0,2}&(?!&)|&>\s?/dev/null)",
        context=0,
        skill=0.1,
        memory=0.3,
        script=0.15,
    ),
    rule(
        "script.hidden-file",
        0.35,
        "/tmp/.|/var/tmp/.|/dev/shm/",
        r"(?:/tmp/\.|/var/tmp/\.|/dev/shm/\.?)\w",
        context=0.1,
        skill=0.3,
    ),
    rule(
        "script.eval-variable",
        0.6,
        "eval(|exec(|execsync(",
        r"(?<![.\w])(?:eval|exec)\((?:f[\"']|[a-z_]\w*(?:\)|,|\[|\.))",
        context=0.05,
        skill=0.1,
        memory=0.3,
    ),
    rule(
        "script.exec-formatted",
        0.5,
        'exec(f|eval(f|exec("""|os.system(f|shell=true|execute(f|popen(f',
        r"(?:(?:exec|eval|os\.system|popen)\(f[\"']|shell=true)",
        context=0,
        skill=0.05,
        memory=0.2,
        script=0.3,
    ),
)
