"""The small words of English, German, Spanish and French: who speaks, what carries no meaning, what denies; and the
verbs that leave something open, of Italian and Portuguese, too."""

from __future__ import annotations

from reverie.text.wording.word_lists import listed

SELF = listed(
    "i i'm i've i'd i'll users me my mine myself user users' user's we we're we've our ours us you your yours"
    " the_user ich mich mir mein meine meinen meiner meinem wir uns unser unsere nutzer benutzer yo me mi mis nosotros"
    " nuestro nuestra nuestros usuario je j' j'ai me moi mon ma mes nous notre nos utilisateur"
)

STOP = SELF | listed(
    "a an the this that these those it its it's there here he she they them his her their him and or but so as of to"
    " in on at by for from with into onto over under up down out about than then when while where which who whom what"
    " how why if because since until till per via through between among within is are was were be been being am do"
    " does did done doing has have had having can could will would shall should may might must get gets got getting"
    " gotten go goes going gone went just very really quite pretty much many some any every each all both more most"
    " less few lot lots kind sort thing things something anything everything nothing one ones other another same own"
    " such only still yet even ever already again away please thanks thank yes yeah okay ok well oh hey hi hello sure"
    " also too either else let let's lets make sure like not no nor never n't always usually often sometimes now"
    " currently these today days lately recently way anyway actually basically maybe perhaps thing bit little der die"
    " das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden hat haben auf im am um"
    " an aus bei mit nach von vor zu zum zur für es sie er man auch noch schon nur sich als wie dass bitte jetzt el la"
    " los las un una unos unas y o pero es son era fue ser está están estar ha han con de del al en por para que se su"
    " sus lo le les muy más ya también ahora porque como l' le la les un une des du de d' et ou mais est sont était"
    " être a ont avec dans sur pour par que qui qu' se s' ce c' cette ces il elle ils elles on au aux en y ne n' pas"
    " plus très aussi maintenant"
)

NEGATORS = listed(
    "not never no none neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't"
    " haven't hadn't shouldn't wouldn't couldn't mustn't ain't n't dont doesnt didnt isnt cant wont nobody nothing"
    " nicht kein keine keinen keinem keiner nie niemals ohne nunca jamás sin ni ninguno ninguna tampoco"
    " pas jamais sans aucun aucune rien"
)

# the forms of the modal verbs that permit or advise; those of duty ("must", "shall", "need") are none of them
OPEN_MODALS = listed(
    "can could may might should ought kann kannst könnt können könnte könntest könntet könnten darf darfst dürft dürfen"
    " dürfte dürften sollte solltest solltet sollten puede puedes podemos podéis pueden podría podrías podrían debería"
    " deberías deberían peut peux pouvons pouvez peuvent pourrait pourrais pourraient devrait devrais devraient può"
    " puoi possiamo potete possono potrebbe potrebbero dovrebbe dovrebbero pode podes podemos podem poderia poderiam"
    " deveria deveriam"
)
