"""Verbs of memory-like statements: where a subject ends, and whether a second object takes the first one's place."""

from __future__ import annotations

from reverie.text.relating.word_lists import in_order, listed

LINKING = listed(
    "is are was were be been am isn't aren't wasn't weren't can can't cannot could may might must should shouldn't"
    " will won't would has have had hasn't haven't hadn't do does did don't doesn't didn't never i'm i've i'd i'll"
    " we've we're it's that's let's : ist sind war wird werden hat haben kann darf muss soll es está son era fue tiene"
    " tengo est sont était a ont s'appelle suis bin sind"
)

# A subject can have only one of these at a time, so another value replaces the first.
ONE_AT_A_TIME = listed(
    "is are was called named lives live living works work based located listens listen opens open closes close starts"
    " start begins ends end ended runs run uses use using built build written stored store kept keeps hosted deployed"
    " deploys deploy costs cost weighs weigh expires expire refreshes refresh lasts last takes take seats sleeps sleep"
    " pays pay due set shown show sends send sent goes go comes come collected happens happen happens held leaves"
    " leave arrives moves moved logs log reports handles handle maintains maintain leads lead owns manages manage"
    " reviews approve approves powered insured licensed managed loaded formatted measured displayed answer answers"
    " write writes written drives drive commutes commute reads put put sign signs prefers prefer want wants retry"
    " allows allow limits limit drink drinks trinke trinkt wohnt wohne stehen steht liegt schließt vive vivo trabaja"
    " usa prefiero prefiere habite travaille utilise apply applies applied pick book serve serves train trains file"
    " filed ask contact studies"
)

# Any number of these can be true together, so another value joins the first.
ANY_NUMBER = listed(
    "like likes love loves enjoy enjoys dislike dislikes hate hates speak speaks play plays has have own owns collect"
    " collects support supports buy buys bought know knows include includes visited visit visits watch watches read"
    " reads collects avoid avoids studies learn learns learning met meet grow grows bake bakes cook cooks"
    " attended attend caught hablo habla tengo tiene parle aime mag spricht gusta"
)

# Duties one person holds: another name there replaces the first.
ROLES = listed(
    "maintain maintains maintainer lead leads leader led own owner handle handles manage manages manager review"
    " reviewer responsible contact advisor doctor dentist teacher coach trainer landlord chair chairs boss lawyer"
    " accountant payable payables charge approve approves approver host hosts assistant cleaner sitter agent"
    " on-call requests president caretaker guide keeper driver nurse mentor sponsor chef editor director head supplier"
    " vendor provider report reports contadora contador ansprechpartner ansprechpartnerin representative rep admin"
    " administrator organiser organizer referee goalkeeper pilot pastor mayor minister staff staffs staffed captaincy"
    " neighbour landlady housekeeper babysitter gardener mechanic dealer broker agency president captain tutor"
    " therapist supervisor secretary treasurer zuständig responsable médico médecin arzt"
)

OTHER_VERBS = listed(
    "needs need sits sit gives give brings bring makes make keeps lets let tells tell says say thinks returns return"
    " contains contain requires require holds hold covers cover ships ship prints print sells sell wants eats eat"
    " terminates terminate restarts restart leaks leak smells looks look gets grew works died retired moved removed"
    " renamed switched deleted committed signed submitted finished started bought added placed met read listened felt"
    " wrote writes received push merge commit squash tested fails fail allow forbids touch"
    " touches export delete deletes sleeps avoid avoids drinks smokes smoke go goes hate"
)

_BASES = in_order(
    "accept add agree aim allow analyse appear apply argue arrange arrive attach avoid become believe belong bill"
    " block boil bother break bring browse calculate cancel care carry catch cause charge cheer choose claim clean"
    " climb combine complain complete connect consist contain continue convert copy count cover crash cross cure cut"
    " damage deal decide decline define deliver demand depend describe design destroy develop die differ dig disappear"
    " discuss divide draw dress drift drop earn empty enable encourage enter exist expand expect explain explore"
    " express face fall feed feel fetch fill fit fix float flow fly follow form freeze gather generate greet grow"
    " guard guess guide hang happen head hear heat hide hire hit hope hunt hurt ignore import improve inform insist"
    " install invite jam join jump kick kill kneel knock lack land laugh launch lay lean lend lie lift link live load"
    " lock look lose maintain mark marry match matter mean measure mention mind miss mix monitor mount multiply name"
    " note notice obey observe obtain occur offer order organise overlook pack paint park pass peak persist phone pick"
    " place point pour practise practice praise pray prepare present preserve press prevent proceed produce promise"
    " protect prove provide publish pull pump push queue reach react rebuild receive recommend record recover reduce"
    " refer reflect refuse regret relax release rely remain remember remind rent repair repeat replace report"
    " represent request rescue rest result retire ride ring rise rotate round rule rush sail satisfy save scale score"
    " search seem separate settle shake shape share shave shine shoot shout shut sing sink smell smile solve sort"
    " sound split spread stand stay steal stick store stretch strike study succeed suffer suggest suit supply suppose"
    " surprise surround survive suspect swim swing switch talk taste teach tear tend thank think throw tie trace track"
    " trade transfer translate travel treat trigger trust try tune turn type understand unlock update upload use vary"
    " view visit vote wait walk warm warn wash waste watch water wear welcome win wish wonder work worry wrap zip"
    " steep bake roast simmer cook bark bloom drip snore scan sync render parse compile crawl poll stop"
)


def _forms(base: str) -> list[str]:
    stem = base.removesuffix("e")
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")
    return [base, third, stem + "ed", base[:-1] + "ies" if base.endswith("y") else third]


# Some of these are nouns as often as verbs; what stands before them decides (`statement._verb`).
_COMMON = frozenset(form for base in _BASES for form in _forms(base))
_ELSEWHERE = listed(
    "möchte will bleiben bleibt heißt nutzt nutzen verwenden läuft laufen gibt braucht mache macht kostet beträgt"
    " öffnet fährt isst kommt geht findet cuesta abre cierra empieza puede usamos tenemos come bebe llega sale coûte"
    " ouvre ferme commence utilisons mange boit arrive part fait faut peut prend é custa fica fecha mora trabalha"
    " começa usa"
)

VERBS = LINKING | ONE_AT_A_TIME | ANY_NUMBER | OTHER_VERBS | _COMMON | _ELSEWHERE
ALSO_NOUNS = _COMMON | OTHER_VERBS | ONE_AT_A_TIME | ANY_NUMBER
