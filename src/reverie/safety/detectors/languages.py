"""The override, concealment and sending families outside English; unaccented, as folding leaves the text."""

from reverie.safety.rules import rule

_DE = (
    r"(?:anweisung\w*|instruktion\w*|befehl\w*|auftrag\w*|auftrage|aufgaben?|regeln?|vorgaben|richtlinien"
    r"|informationen|angaben|prompts?|eingaben)"
)
_FR = r"(?:instructions?|consignes?|ordres?|regles?|directives?|messages?|invites?|prompts?)"
_ES = r"(?:instruccion(?:es)?|ordenes|reglas|indicaciones|directrices|mensajes|comandos|normas|directivas)"
_PT = r"(?:instruc(?:oes|ao)|ordens|regras|diretrizes|mensagens|comandos|orientacoes)"
_IT = r"(?:istruzioni|ordini|regole|direttive|messaggi|comandi|indicazioni|linee guida)"
_NL = r"(?:instructies|opdrachten|regels|richtlijnen|aanwijzingen|bevelen)"
_RU = r"(?:инструкци\w*|указани\w*|команд\w*|правил\w*|приказ\w*|сообщени\w*)"
_PL = r"(?:instrukcj\w*|polecen\w*|instrukcij\w*|pravila|upute|zasad\w*|rozkaz\w*)"
_ZH = r"(?:指令|指示|规则|規則|提示|命令|要求|说明|內容|内容|设定|设置)"
_JA = r"(?:指示|命令|ルール|規則|プロンプト|指令|設定)"
_KO = r"(?:지시|명령|규칙|지침|프롬프트)"

RULES = (
    rule(
        "override.de",
        1,
        "ignorier|vergiss|vergesse|vergessen|missacht|hore nicht|hor nicht|beachte nicht|lass alle"
        "|lassen sie|verwirf|abweichend|entgegen|uberschreib",
        rf"\b(?:(?:ignorier\w*|vergiss|vergess\w*|missacht\w*|verwirf|uberschreib\w*"
        rf"|lass(?:en sie)?) ~2(?:all\w*|samtliche|jede\w*|die|deine|vorherige\w*|bisherige\w*"
        rf"|obige\w*)(?: ~3{_DE}| (?:davor|vorher\w*|bisher\w*|was ~4(?:bisher|davor|vorher|besproch\w+"
        rf"|gesagt))| ~3(?:informationen|davor) )|hor\w* nicht (?:mehr )?auf (?:all\w*|die|das)|(?:abweichend"
        rf"|entgegen) ~3{_DE})",
    ),
    rule(
        "override.de-alles",
        1,
        "vergiss alles|vergesse alles|vergessen sie alles|ignoriere alles|ignorieren sie alles",
        r"\b(?:vergiss|vergesse|vergessen sie|ignoriere|ignorieren sie) alles\b",
    ),
    rule(
        "override.de-new",
        0.6,
        "neue aufgabe|neuen aufgabe|neue anweisung|weitere aufgaben|neue aufgaben|neue instruktion",
        r"\b(?:neue|neuen|weitere) (?:aufgaben?|anweisung(?:en)?|instruktion(?:en)?)\b",
    ),
    rule(
        "jailbreak.de",
        0.6,
        "jetzt bist du|du bist jetzt|du bist nun|tu so als|stell dir vor, du|stell dir vor du|nun bist du"
        "|du bist kein|als linux|ich mochte, dass|ich will, dass|ich mochte dass",
        r"\b(?:(?:jetzt|nun) bist du|du bist (?:jetzt|nun|kein\w*)|tu so als|stell dir vor,? du (?:bist|warst))\b",
    ),
    rule(
        "jailbreak.de-act",
        1,
        "ich mochte|ich will|ich wunsche",
        r"\bich (?:mochte|will|wunsche mir),? dass (?:du|sie|ihr) (?:dich |sich )?(?:als|wie) ~8(?:fungier\w*"
        r"|agier\w*|verhalt\w*|handel\w*|auftret\w*|antwort\w*)\b",
        memory=0.5,
    ),
    rule(
        "override.fr",
        1,
        "ignore|oubli|neglige|ne tiens pas|ne tenez pas|fais abstraction|faites abstraction",
        rf"\b(?:ignor\w*|oubli\w*|neglig\w*|ne ten?iens pas compte|ne tenez pas compte"
        rf"|fai\w+ abstraction) ~4{_FR} ~3(?:precedent\w*|anterieur\w*|ci-dessus|d'avant|initiales?|systeme"
        rf"|recues?|donnees)",
    ),
    rule(
        "override.fr-all",
        1,
        "ignore tout|ignorez tout|oublie tout|oubliez tout",
        rf"\b(?:ignorez?|oubliez?) tou(?:t|tes?|s)(?: ce qui precede| ce qu| {_FR}| (?:les|tes|vos) ~1{_FR})",
    ),
    rule(
        "override.es",
        1,
        "ignor|olvid|haz caso omiso|omit|descart|no hagas caso",
        rf"\b(?:ignor\w*|olvid\w*|haz caso omiso ~2|omit\w*|descart\w*"
        rf"|no hagas caso ~2) ~3(?:{_ES} ~2(?:anterior\w*|previ\w*|de arriba|dadas|iniciales|recibidas"
        rf"|del sistema)|tod[ao]s? (?:las |los |tus |sus )?~1{_ES}|todo (?:lo )?(?:que |lo anterior|anterior))",
    ),
    rule(
        "override.pt",
        1,
        "ignor|esquec|desconsider|descart",
        rf"\b(?:ignor\w*|esquec\w*|desconsider\w*|descart\w*) ~3(?:{_PT} ~2(?:anterior\w*|previ\w*|acima|dadas"
        rf"|iniciais|do sistema)|tod[ao]s? (?:as |os |suas |seus )?~1{_PT}|tudo (?:o )?(?:que|acima|anterior))",
    ),
    rule(
        "override.it",
        1,
        "ignor|dimentic|trascur|non seguire|tralasci",
        rf"\b(?:ignor\w*|dimentic\w*|trascur\w*|non seguire|tralasci\w*) ~3(?:{_IT} ~2(?:precedent\w*|sopra"
        rf"|iniziali|di sistema|ricevute)|tutt[eio] (?:le |i |gli |le tue )?~1(?:precedenti )?{_IT}"
        rf"|tutto (?:cio |quello )?(?:che|quanto))",
    ),
    rule(
        "override.nl",
        1,
        "negeer|vergeet",
        rf"\b(?:negeer|vergeet) ~2(?:alle|de|je|eerdere|vorige|bovenstaande) ~3{_NL}",
    ),
    rule(
        "override.ru",
        1,
        "игнорир|проигнорир|забуд|не обращай|отмени",
        rf"(?:игнорир\w*|забуд\w*|не обраща\w* внимани\w* на"
        rf"|отмени\w*) ~3(?:{_RU}|(?:все|всё),? что)",
    ),
    rule(
        "override.slavic",
        1,
        "zignoruj|ignoruj|zapomnij|zaboravi|ignoriraj|zapomen",
        rf"\b(?:zignoruj|ignoruj|zapomnij|zaboravi\w*|ignoriraj\w*|zapomen\w*) ~3{_PL}",
    ),
    rule(
        "override.zh",
        1,
        "忽略|无视|無視|忘记|忘記|忘掉|不要理会|不理会|撤销|跳过|覆盖",
        rf"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不理会|撤销|跳过|覆盖).{{0,12}}(?:之前|以前|上面|以上|先前|前面"
        rf"|所有|全部|此前|系统|原有|一切).{{0,8}}{_ZH}",
    ),
    rule(
        "override.zh-after",
        1,
        "之前的|以上|上述|先前的|前面的|所有",
        rf"(?:之前的|以上|上述|先前的|前面的|所有).{{0,6}}{_ZH}.{{0,6}}(?:忽略|无视|作废|失效|忘记|忘掉)",
    ),
    rule(
        "override.ja",
        1,
        "これまで|以前|前の|上記|すべて|全て|いままで|今まで|先ほど|システム",
        rf"(?:これまで|以前|前の|上記|すべて|全て|いままで|今まで|先ほど|システム).{{0,8}}{_JA}.{{0,10}}(?:無視"
        rf"|忘れ|破棄|取り消|従わな)",
    ),
    rule(
        "override.ko",
        1,
        "이전|위의|지금까지|모든|앞의",
        rf"(?:이전|위의|지금까지|모든|앞의).{{0,8}}{_KO}.{{0,8}}(?:무시|잊)",
    ),
    rule(
        "override.ar-hi",
        1,
        "تجاهل|انس |पिछले|पिछली|सभी निर्देश",
        r"(?:(?:تجاهل|انس ).{0,16}(?:التعليمات|الأوامر|السابقة)|(?:पिछले|पिछली"
        r"|सभी).{0,16}(?:निर्देश|आदेश).{0,24}(?:अनदेखा|नज़रअंदाज़|भूल))",
    ),
    rule(
        "exfiltration.romance",
        1,
        "envia|enviar|envie|manda|mandar|envoie|envoyer|envoyez|invia|inviare|transmet|reenvia|sende|schick"
        "|verschick|ubermittle|stuur|verstuur|wyslij|posalji",
        r"\b(?:(?:re)?envi(?:a|ar|e|es)|mand(?:a|ar|e)|envoi(?:e|es)|envoy(?:er|ez)|invi(?:a|are)|transmet\w*"
        r"|send(?:e|en|et)|schick(?:e|en|t)?|verschick\w*|ubermittle|(?:ver)?stuur|wyslij|posalji) ~8<url>",
    ),
    rule(
        "exfiltration.zh-ja",
        1,
        "发送|發送|上传|上傳|转发|傳送|发到|发给|送信|転送|アップロード",
        r"(?:发送|發送|上传|上傳|转发|傳送|发到|发给).{0,12}https?://",
    ),
    rule(
        "exfiltration.ja",
        1,
        "https://|http://",
        r"https?://[\w./?=&-]{1,80}.{0,4}(?:に|へ).{0,6}(?:送信|転送|送っ|アップロード|投稿)",
    ),
    rule(
        "exfiltration.ru",
        1,
        "отправ|перешл|пришл|загруз",
        r"(?:отправ\w*|перешл\w*|пришл\w*|загруз\w*) ~8(?:на|в|по)? ?<url>",
    ),
    rule(
        "concealment.many",
        1,
        "nicht dem|dem nutzer nicht|dem benutzer nicht|no le digas|no digas al"
        "|ne dis pas|ne le dites pas|ne dites pas|non dire all|nao diga"
        "|nao conte|不要告诉|别告诉|不要告訴|не говори|не сообщай|ユーザーには|ユーザーに",
        r"(?:sag\w* ~2)?(?:nicht dem (?:nutzer|benutzer|anwender)|dem (?:nutzer"
        r"|benutzer) nicht|no le digas ~1al? usuario|no digas al usuario"
        r"|ne (?:le )?(?:dis|dites) (?:pas|rien) ~1a l'utilisateur"
        r"|non dire all'utente|nao (?:diga|conte) (?:ao|nada ao) usuario|(?:不要"
        r"|别)告[诉訴](?:用户|主人|任何人)|не (?:говори\w*"
        r"|сообщай\w*) (?:об этом )?пользовател|ユーザーに(?:は)?.{0,10}(?:言わない|知らせない"
        r"|伝えない|話さない))",
    ),
    rule(
        "authority.de",
        0.6,
        "ohne|musst|brauchst|zustimmung|erlaubnis|freigabe|genehmigung",
        r"\b(?:ohne (?:(?:weitere |erneute )?(?:nachfragen?|ruckfragen?|rucksprache|absprache|freigabe)|(?:mich |uns )?"
        r"(?:vorher )?zu fragen|meine (?:zustimmung|erlaubnis|freigabe|genehmigung))|(?:musst|brauchst)"
        r" ~1(?:mich|uns|dafur"
        r"|dazu) ~2(?:nicht|nie) ~2(?:fragen|zu fragen|nachfragen)(?! (?:wie|was|wo|wer|welche\w*|nach))"
        r"|brauchst ~2(?:nicht"
        r"|keine) ~3(?:zustimmung|erlaubnis|freigabe|genehmigung|ruckfrage)|(?:zustimmung|erlaubnis|freigabe"
        r"|genehmigung) "
        r"(?:brauchst du|ist) ~3(?:nicht|keine))\b",
    ),
    rule(
        "authority.romance",
        1,
        "sin|sans|senza|sem|pas besoin|inutile|plus besoin|no hace falta|no necesitas|no precisas|non serve|non occorre"
        "|non hai|non devi|non c'e|nao precisa|nao precisas|nao e|nao necessit",
        r"\b(?:sin (?:preguntar\w*|consultar\w*|pedir\w* ~2(?:confirmacion|permiso|autorizacion)|mi (?:permiso"
        r"|aprobacion"
        r"|autorizacion|visto bueno))|sans (?:(?:me|nous|rien|devoir|avoir a) ){0,2}(?:demander|consulter)|sans"
        r" (?:mon|notre) "
        r"(?:accord|autorisation|feu vert|aval)|(?:pas|plus) besoin (?:de|d') ?~2(?:accord|autorisation|feu"
        r" vert|demander)"
        r"|inutile de (?:me|nous) (?:demander|consulter)|senza (?:dover\w* )?(?:chieder\w*|consultar\w*|il mio"
        r" (?:permesso"
        r"|consenso|ok|benestare))|sem (?:me |nos |ter de |precisar de )?(?:perguntar\w*|consultar\w*|pedir\w*)"
        r"|sem (?:a )?"
        r"minha (?:autorizacao|permissao|aprovacao)|no hace falta ~2(?:preguntes|pidas|consultes|preguntar\w*"
        r"|pedir\w*)|no "
        r"(?:necesitas|precisas) ~2(?:permiso|aprobacion|autorizacion|visto bueno|preguntar\w*|pedir\w*)|non"
        r" (?:serve|occorre"
        r"|hai bisogno|devi|c'e bisogno) ~4(?:permesso|consenso|benestare|chieder\w*)|nao (?:precisas?|e preciso"
        r"|necessitas?) ~3(?:perguntar\w*|pedir\w*|autorizacao|permissao|consultar\w*|aprovacao))\b",
    ),
    rule(
        "authority.north",
        0.6,
        "zonder|hoeft|hoef|toestemming|utan|uten|uden|behover|trenger|bez|nie musisz|nie potrzebujesz|nemusis"
        "|zgody|sormadan|sormana|onay|izn",
        r"\b(?:zonder (?:overleg|toestemming|akkoord|(?:het )?(?:me |mij |ons )?(?:te vragen|na te vragen|te"
        r" overleggen)|mijn "
        r"(?:toestemming|akkoord))|hoeft? ~4(?:niet|nooit|geen) ~5(?:te vragen|te overleggen|toestemming)(?!"
        r" (?:hoe|wat|waar"
        r"|wie|welke|naar))|toestemming ~2niet ~3nodig|utan att (?:fraga|be om)|ut[ae]n (?:mitt|min)"
        r" (?:godkannande|tillatelse"
        r"|ok)|uten [aå] sp[oø]rre|uden at sp[oø]rge|(?:behover|trenger) ~1(?:inte|ikke|ikkje) ~2(?:fraga|sp[oø]rre"
        r"|sp[oø]rge|sp[oø]rja)|bez (?:pytania|pytan|mojej zgody|konsultacji|potwierdzenia|ptani|meho souhlasu)|nie "
        r"(?:musisz|potrzebujesz) ~3(?:pytac|prosic|zgody)|nemusis ~3(?:ptat|zadat)|zgody ~2nie ~1potrzebujesz"
        r"|(?:bana |bize )?"
        r"sormadan|sormana gerek yok|onay\w* (?:almadan|olmadan|beklemeden|gerek yok)|izn\w* (?:almadan|olmadan"
        r"|gerek yok))",
    ),
    rule(
        "authority.many",
        1,
        "不用|不必|无需|無需|不需要|没必要|用不着|без подтвержден|не спрашива|без спроса|確認|許可|聞かなくて|断りなく",
        r"(?:(?:不用|不必|[无無]需|不需要|没必要|用不着)(?:再)?(?:问我|先问|经过我|征求我|等我|我(?:的)?(?:同意"
        r"|批准|确认)|确认|询问|批准)"
        r"|без подтвержден\w*|не спрашива\w*|без спроса|確認(?:せず|なし|不要|しなくて)|許可(?:なく|なし|不要"
        r"|を取らなくて)"
        r"|聞かなくて(?:も)?(?:いい|よい|大丈夫)|断りなく)",
    ),
)
