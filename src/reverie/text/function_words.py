"""The small words of a language: they tell which language a text is in and say little about its subject.

Light verbs and vague nouns stand with them, because a question leans on them ("where do I take ...") and any answer
may use others. Written as the tokenizer sees them: lower case, contractions without their apostrophe.
"""

from __future__ import annotations

_WORDS = {
    "en": """
        a an the and or but if then than so of to in on at by for from with about into over after before between
        during through up down out off again i me my mine we our us you your he him his she her it its they them
        their this that these those who whom whose which what when where why how is am are was were be been being
        have has had do does did done doing will would can could should shall may might must not no nor as there
        here just also very too any some all each other more most such only own same both few many much yes ok
        im ive id ill youre youve hes shes weve were theyre theyve dont doesnt didnt cant couldnt wont wouldnt
        isnt arent wasnt werent havent hasnt shouldnt thats whats theres lets
        get gets got getting go goes went gone going make makes made making take takes took taken taking use uses
        used using want wants need needs like know think thought say says said tell told let put give gave given
        come came see saw seen look find found try tried keep kept way thing things lot really please
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und oder aber wenn dass als wie auch nicht kein
        keine ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine meinen dein deine sein
        seine unser unsere ist bin bist sind seid war waren wird werden wurde wurden hat habe haben hatte hatten
        kann können konnte soll sollte muss müssen will wollen mit von vom zu zum zur in im auf an am aus bei nach
        für über unter um durch gegen ohne vor seit was wer wo wann warum welche welcher welches hier da dort noch
        schon nur sehr so dann denn doch mal bitte machen macht gemacht geht gibt
    """,
    "es": """
        el la los las un una unos unas y e o u pero si que como no ni yo tú tu él ella usted nosotros ellos ellas
        me te se nos lo le les mi mis tus su sus nuestro nuestra de del a al en con por para sin sobre entre desde
        hasta es soy eres somos son era eran fue fueron ser estar está estoy están estaba ha he has han había hay
        qué quién cuál cuáles cuándo cuando dónde donde cómo cuánto cuántos cuántas porque muy más ya también este
        esta estos estas ese esa eso esto aquí hacer hace hizo puede puedo tiene tengo
    """,
    "fr": """
        le la les un une des et ou mais si que qui ne pas ni je tu il elle on nous vous ils elles me te se lui leur
        leurs mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces cest de du au aux à en dans avec
        par pour sans sur sous entre chez depuis est suis es sommes êtes sont était étaient être ai as a avons avez
        ont avait avoir fait faire quoi quel quelle quels quelles quand où comment pourquoi combien quest très plus
        aussi déjà y jai nest peut peux
    """,
    "it": """
        il lo la i gli le un uno una e ed o ma se che chi non né io tu lui lei noi voi loro mi ti si ci vi ne mio
        mia miei mie tuo tua suo sua nostro nostra di del della dello dei delle degli a al alla ai alle da dal dalla
        in nel nella nei nelle con su sul sulla per tra fra è sono sei siamo siete era erano essere ho hai ha abbiamo
        avete hanno aveva avere cosa quale quali quando dove come perché quanto quanti quante molto più anche già
        questo questa questi queste quello quella fare fatto può
    """,
    "nl": """
        de het een en of maar als dat die dit deze niet geen ik jij je u hij zij ze wij we jullie hem haar hen ons
        mij me jou mijn jouw uw zijn onze hun is ben bent was waren wordt worden werd heeft heb hebt hebben had
        hadden kan kunnen kon zal zullen moet moeten wil willen met van te naar in op aan uit bij voor over onder
        om door tegen zonder sinds wat wie waar wanneer waarom welke hoe hier daar nog al ook wel maar heel dan doen
    """,
    "pt": """
        o a os as um uma uns umas e ou mas se que como não nem eu tu ele ela você nós eles elas vocês me te lhe nos
        meu minha meus minhas teu tua seu sua seus suas nosso nossa de do da dos das em no na nos nas ao aos à às
        com por pelo pela para sem sobre entre desde até é sou és somos são era eram foi foram ser estar está estou
        estão estava tem tenho têm tinha há quem qual quais quando onde porque quanto quantos quantas muito mais já
        também este esta estes estas esse essa isso isto aqui fazer faz fez pode posso
    """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от
        меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом
        себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе
        под будет тогда кто этот того потому этого какой ним здесь этом почти мой тем чтобы нее были куда зачем всех
        можно при об хоть над наш для это эта эти мы наши
    """,
}

FUNCTION_WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _WORDS.items()}

SPOKEN_IN: dict[str, tuple[str, ...]] = {
    word: tuple(code for code, words in FUNCTION_WORDS.items() if word in words)
    for word in frozenset().union(*FUNCTION_WORDS.values())
}
