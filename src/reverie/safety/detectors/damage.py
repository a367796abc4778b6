"""Scripts that destroy, mine, dig themselves in, or take more rights than they need."""

from reverie.safety.rules import rule

RULES = (
    rule(
        "script.destroy",
        1,
        "rm -rf|rm -fr|rm -r -f|rm --recursive|rm -r|mkfs|dd if=|shred |:(){|format c:|del /|rmtree(|wipefs"
        "|> /dev/sd|diskpart|cipher /w|drop database|fdisk|rd /s",
        r"(?:rm(?:\s{1,8}-[\w-]{1,24}){1,4}\s{1,8}[\"']?(?:/(?=[\s\"';&)*]|$)|/\*|~/?(?=[\s\"';&)*]|$)"
        r"|\$home/?(?=[\s\"';&)*]|$)|\$\{home\}|/(?:etc|usr|var|home|boot|bin|lib|root|opt"
        r"|system32)/?(?=[\s\"';&)*]|$)|--no-preserve-root)|mkfs(?:\.\w+)? (?:-\w+ )*/dev/"
        r"|dd if=/dev/\w+ of=/dev/[a-z]|:\(\)\s?\{ ?:|shred [^\n]{0,40}(?:/dev/|~|\$home)|>\s?/dev/sd[a-z]"
        r"|wipefs [^\n]{0,30}/dev|format c:|del /[fsq] [^\n]{0,20}c:|rd /s /q c:|rmtree\([\"'](?:/|~|c:))",
        context=0.35,
        skill=0.9,
    ),
    rule(
        "script.stop-services",
        0.7,
        "systemctl stop|systemctl disable|service |setenforce 0|iptables -f|ufw disable|set-mppreference"
        "|killall |pkill |launchctl unload|auditctl|chattr|netsh advfirewall",
        r"(?:systemctl (?:stop|disable|mask) \S{0,20}(?:critical|firewalld|ufw|auditd|apparmor|falcon"
        r"|crowdstrike|clamav|fail2ban|rsyslog|osquery|defender|sshd|network)|service (?:auditd|rsyslog"
        r"|iptables|apparmor) stop|setenforce 0|iptables (?:-f|--flush)|ufw disable"
        r"|set-mppreference [^\n]{0,60}disable|auditctl -e 0|netsh advfirewall [^\n]{0,40}off)",
        context=0.15,
        skill=0.3,
        memory=0.8,
    ),
    rule(
        "script.cron",
        0.7,
        "crontab|/etc/cron|cron.d",
        r"(?:(?:(?<=\|)|(?<=\|\s))crontab\s?-|crontab (?:-\s|/tmp|<)|(?:>>?"
        r"|tee (?:-a )?)\s?[\"']?/etc/cron\S{0,40}|\* \* \* \*[^\n]{0,80}(?:curl|wget|nc|bash|python|/tmp))",
        context=0.15,
        skill=0.3,
        script=0.6,
        memory=0.8,
    ),
    rule("script.cron-fetch", 0.7, "* * * *", r"\* \* \* \* [^\n]{0,100}(?:curl|wget)[^\n]{0,100}\|"),
    rule(
        "script.rc-files",
        0.7,
        ".bashrc|.zshrc|.profile|.bash_profile|.zshenv|rc.local|authorized_keys|sudoers|launchagents"
        "|launchdaemons|systemd/user|/etc/systemd|autostart|currentversion\\run|schtasks|startup|ld_preload"
        "|/etc/ld.so.preload|.git/hooks|pth",
        r"(?:authorized_keys[\"'\s]{0,3}(?:$|\n|;|&|<<|,\s?[\"']a)|ld_preload=|/etc/ld\.so\.preload"
        r"|currentversion\\{1,2}run\b|schtasks /create|nopasswd)",
        context=0.2,
        skill=0.3,
        memory=0.7,
    ),
    rule(
        "script.append-rc",
        0.7,
        '>> ~/.|>> $home/.|>>~/.|tee -a ~/.|>> /etc/|>>$home|>> "$home|>> /root/.|tee -a /etc|>>/etc|>> ${home}',
        r"(?:>>|tee -a)\s?[\"']?(?:~|\$home|\$\{home\}|/root|/etc)/\.?(?:ssh/authorized_keys|bashrc|zshrc"
        r"|profile|bash_profile|zshenv|zprofile|rc\.local|sudoers\S{0,20}|hosts|ld\.so\.preload|crontab"
        r"|gitconfig|npmrc|pip)",
        context=0.1,
        skill=0.15,
        script=0.4,
        memory=0.6,
    ),
    rule(
        "script.rc-remote",
        0.7,
        "echo |printf |cat <<",
        r"(?:echo|printf)\s[^\n]{0,160}(?:curl|wget|nc |/dev/tcp|python -c|base64|ssh-(?:rsa"
        r"|ed25519))[^\n]{0,120}(?:>>|tee -a)\s?\S{0,60}(?:rc\b|profile|authorized_keys|cron|hosts|\.zshenv)",
        context=0.4,
        skill=0.5,
    ),
    rule(
        "script.miner",
        1,
        "xmrig|minerd|stratum+tcp|stratum+ssl|cryptonight|coinhive|cryptomine|nicehash|cpuminer|monero"
        "|ethminer|xmr-stak|randomx",
        r"(?:xmrig|minerd|stratum\+(?:tcp|ssl)|cryptonight|coinhive|cryptomine|cpuminer|ethminer|xmr-stak"
        r"|monero (?:miner|pool)|randomx)",
        context=0.25,
        skill=0.6,
    ),
    rule(
        "script.priv",
        0.6,
        "chmod u+s|chmod 4755|chmod +s|setuid(0|sudo su|nopasswd:|chmod -r 777 /|usermod -ag|useradd"
        "|net user|setcap|docker.sock|--privileged|nsenter",
        r"(?:chmod (?:u\+s|[46]\d{3}|\+s) |setuid\(0\)|nopasswd: ?all|chmod -r 777 /|(?:useradd"
        r"|net user) [^\n]{0,60}(?:-o -u 0|/add)|usermod -a?g (?:sudo|wheel|docker)|setcap cap_|nsenter -t 1)",
        context=0.1,
        skill=0.2,
        memory=0.7,
    ),
    rule(
        "script.cover-tracks",
        0.6,
        "unset histfile|histfile=|history -c|histsize=0|> /var/log|rm -rf /var/log|rm /var/log"
        '|clear-eventlog|wevtutil cl|set +o history|rm -f ~/.bash_history|shred|touch -r|rm -- "$0"'
        '|rm -f "$0"|rm -f $0|os.remove(__file__|os.remove(sys.argv[0]',
        r"(?:unset histfile|histfile=(?:/dev/null|[\"']{2}|\s)|history -c|histsize=0|>\s?/var/log/"
        r"|rm [^\n]{0,12}/var/log|clear-eventlog|wevtutil cl|set \+o history|\.bash_history"
        r"|rm -?\S{0,3} [\"']?\$0|os\.remove\((?:__file__|sys\.argv\[0))",
        context=0.15,
        skill=0.3,
    ),
    rule(
        "script.ransom",
        0.8,
        "os.walk(|rglob(|glob(",
        r"(?:os\.walk|rglob|glob)\([\s\S]{0,400}?(?:fernet|\.encrypt\(|aes\.new"
        r"|cryptography)[\s\S]{0,200}?(?:write\(|os\.remove|unlink|rename)",
        context=0.2,
        skill=0.4,
        script=0.6,
    ),
    rule(
        "script.time-bomb",
        0.6,
        "datetime.now()|date.today()|time.time()|date +%|datetime.date",
        r"(?:datetime\.now\(\)|date\.today\(\)|time\.time\(\)|date \+%\w+)[^\n]{0,40}(?:>|>=|==|-gt"
        r"|-ge)[^\n]{0,60}\n?[\s\S]{0,160}?(?:os\.system|rmtree|rm -rf|exec\(|urlopen|requests\.post"
        r"|subprocess)",
        context=0.2,
        skill=0.3,
    ),
    rule(
        "script.git-hijack",
        0.7,
        "url.|core.sshcommand|core.hookspath|credential.helper|git remote set-url|core.fsmonitor",
        r"(?:url\.[^\n]{1,80}\.insteadof|core\.sshcommand|core\.fsmonitor [^\n]{0,40}(?:curl|sh)"
        r"|git remote set-url (?:--push )?\w+ https?://(?!github\.com/\$)"
        r"|credential\.helper[^\n]{0,40}(?:curl|!|store))",
        context=0.05,
        skill=0.1,
        memory=0.7,
        script=0.2,
    ),
    rule(
        "script.pkg-run",
        0.5,
        '"postinstall|"preinstall|--index-url|--extra-index-url|npm config set|npm set registry|pip config set',
        r"(?:\"(?:post|pre)install\"\s?:\s?\"[^\"\n]{0,80}(?:curl|wget|node -e|bash|sh -c)"
        r"|--(?:extra-)?index-url[ =]https?://(?!pypi\.org|download\.pytorch|test\.pypi|\S{0,30}nvidia"
        r"|\S{0,40}wheels)|(?:npm|pip) (?:config )?set (?:global\.)?(?:registry|index-url) )",
        context=0.1,
        skill=0.15,
        memory=0.9,
        script=0.4,
    ),
    rule(
        "script.bad-host",
        0.6,
        "http://|https://|ftp://|@",
        r"(?:https?://|ftp://|@)[a-z0-9.-]{0,40}(?:evil|attacker|malicious|exfil|steal|phish|hacker|malware"
        r"|badguy|exploit|c2-|c2\.|darkweb|\.onion)[a-z0-9.-]{0,40}",
        context=0.1,
        skill=0.4,
        memory=0.8,
    ),
    rule(
        "script.confesses",
        0.5,
        "exfiltrat|steal|harvest|attacker|malicious payload|backdoor|keylog|ransom|command and control"
        "|c2 server|payload to",
        r"\b(?:exfiltrat\w*|steal\w* (?:\w+ )?(?:credentials?|tokens?|data|keys|cookies|passwords?|secrets?)"
        r"|harvest\w* (?:\w+ )?(?:env\w*|credentials?|tokens?|cookies|keys|secrets?|data)"
        r"|attacker[\W_](?:controlled|server|host|url|ip)|malicious payload|(?:install|open|add) ~2backdoor"
        r"|keylogger|ransomware|c2 server)",
        context=0.02,
        skill=0.05,
        memory=0.4,
    ),
    rule(
        "script.secret-url",
        0.5,
        "oauth|token|callback|redirect_uri|api_key=|access_token=|?token=|?key=",
        r"(?:oauth/callback|redirect_uri|[?&](?:token|key|data|d|payload|secret)=)",
        context=0,
        skill=0,
        memory=0,
        script=0.1,
    ),
    rule("script.mining-pool", 0.5, "stratum+tcp|stratum+ssl|stratum2+", r"stratum", context=0.2),
)
