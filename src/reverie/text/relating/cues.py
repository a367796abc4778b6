"""How a clause is meant, told from its small words: asked, hedged, past, in addition, changed, for all or for some.

English, German, Spanish and French, with a few words of Portuguese, Italian and Chinese; everything is case-folded.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Cue(StrEnum):
    QUESTION = "question"
    HEDGED = "hedged"
    CONDITIONAL = "conditional"
    PAST = "past"
    WAS = "was"
    ADDITIVE = "additive"
    CHANGE = "change"
    NOW = "now"
    EXCLUSIVE = "exclusive"
    UNIVERSAL = "universal"


def _pattern(phrases: str, *others: str) -> re.Pattern[str]:
    """Whole phrases, written with slashes between them; `others` are patterns that see to their own edges."""
    whole = "|".join(phrase.strip() for phrase in phrases.replace("\n", " ").split(" / ") if phrase.strip())
    return re.compile("|".join((rf"\b(?:{whole})\b", *others)))


_QUESTION_STARTS = re.compile(
    r"^(?:and |but |so |or |also |hmm,? |well,? )*"
    r"(?:what|where|when|who|whom|whose|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|may i|has"
    r"|have you|have i|any (?:tips|ideas|advice|recommendations|suggestions)|wie|was|wo|wann|wer|warum|welche[rsn]?"
    r"|qué|dónde|cuándo|quién|cómo|cuál|quel(?:le)?s?|où|quand|qui|pourquoi|comment|est-ce)\b"
)
_NO_QUESTION = re.compile(
    r"^(?:do not|do n|have (?:the|a|your)|when (?!is|are|was|do|does|did|will|can|should)"
    r"|which (?!\w+ (?:is|are|do|should))|was )\b"
)
_REQUEST = _pattern(
    r"""
    (?:can|could|would|will) you / do you (?:know|have|think) / what do you think / i was wondering / should i /
    i(?:'m| am) (?:just )?(?:kinda )?(?:wondering|curious|not sure) / how (?:can|do|should|could) i /
    i(?:'d| would) (?:like|love) (?:to|some)
    """
)

_CUES = {
    Cue.CONDITIONAL: re.compile(
        r"^(?:and |but |so )?(?:if|unless|suppose|falls|wenn|si)\b"
        r"|\b(?:if|unless|falls) (?:the|i|we|it|they|he|she|you)\b(?!.*\b(?:please|use|ask|send)\b)|如果"
    ),
    # A plain past tense beside a present one tells how it was, not how it is.
    Cue.WAS: re.compile(r"\b(?:was|were|had|did|war|waren|hatte|era|fue|était|avait)\b(?! been)"),
    Cue.HEDGED: _pattern(  # It is only considered, planned or heard of.
        r"""
        might / maybe / perhaps / possibly / someday / eventually / one day / at some point / considering /
        evaluating / thinking (?:of|about) / (?:we|i|they|he|she) (?:may|could) /
        could (?:be|become|move|switch|use|try) / would be nice / plan(?:s|ning|ned)? (?:to|on|for) / is planned /
        are planned / planned for / planning (?:a|an|the) / intend(?:s)? to / hope to / hoping to / going to / i'll /
        we'll / will (?:be|move|switch|get|open|start) / next year / looks? (?:nice|interesting|good|promising) /
        heard (?:that|of|about) / told me / rumou?r / were to / should eventually / in theory / roadmap / discuss\w* /
        under discussion / proposed / proposal / suggested / debating / in talks / might come /
        wonder(?:ing)? (?:if|whether) / want(?:s)? to (?:try|rebuild|switch|move|get|buy) / could imagine / imagine /
        made us an offer / people say / anyone tried / not sure (?:if|whether) / wish / vielleicht / eventuell /
        möglicherweise / irgendwann / würde / könnten? / überlege[n]? / geplant / quizás? / tal vez / a lo mejor /
        podríamos / podría / algún día / planeamos / estamos pensando / peut-être / éventuellement / pourrait /
        pourrions / un jour / envisage(?:ons)?
        """,
        r"也许",
        r"可能",
        r"打算",
        r"考虑",
    ),
    Cue.PAST: _pattern(  # It tells of former times.
        r"""
        at my (?:heaviest|lightest|peak|worst) /
        started out (?:with|on|in|as) / came from / during my (?:studies|time|childhood) /
        once (?:had|was|lived|owned) /
        former / the old days / at (?:school|university) i / in college / before i / my ex / learned on /
        (?:at|in) the (?:beginning|start) / initially / back in (?:19|20)\d\d /
        my (?:last|previous|first|old) \w+ was / used to(?= \w) / years ago / months ago / ago i /
        before (?:that|this) / formerly / previously / in the past / back then / back when /
        when i (?:was|joined|started) / in the (?:nineties|eighties|seventies|sixties) / was born / used to be /
        as a (?:child|kid|student) / grew up / originally /
        the (?:first|old|previous|original) (?:prototype|version) / had an? / was (?:once|formerly) / at first /
        in my (?:twenties|youth) / early on / long ago / at the time / until (?:last|19|20) / früher / damals /
        vor jahren / ehemals / vorher / antes / anteriormente / hace años / solía / autrefois / avant / auparavant /
        il y a
        """,
        r"以前",
        r"曾经",
        r"过去",
    ),
    Cue.ADDITIVE: _pattern(  # It comes on top of something.
        r"""
        also / too / as well / additionally / in addition / another / on top / besides / plus / auch / außerdem /
        zusätzlich / también / además / aussi / également / en plus
        """,
        r"也",
        r"还",
    ),
    Cue.CHANGE: _pattern(  # What was is no longer.
        r"""
        (?:now )?known as / goes by / rebranded / relabelled / ended up / stepped (?:in|down) / steps down /
        hand(?:s|ed) (?:\w+ ){0,3}(?:over|to) /
        passed (?:\w+ ){0,3}(?:on|over) to /
        no longer / from now on / going forward / since the switch / switch(?:ed|ing)? / moved / moving / migrat\w+ /
        relocat\w+ / renam\w+ / replac\w+ / changed / updated / upgraded / upgrading / bumped / raised / increased /
        decreased / reduced / lowered / adjusted / resched\w+ / postponed / delayed / put off /
        pushed (?:\w+ ){0,3}back / moved up / tightened / brought forward / slipped / shifted / extended /
        (?:went|gone|down|up) (?:up|down|from|to|over to) / is (?:gone|dead) / became / turned into / took over /
        takes over / taken over / got (?:a )?new / new (?:job|doctor|home|address) / started a new / mudou / mudámos /
        mudei / trasferit\w+ / cambiat\w+ / passés? (?:à|au) / passamos / wechsel\w+ / verlegt / verschoben /
        nicht mehr / umgezogen / gewechselt / geändert / umbenannt / ab sofort / ya no / me mudé / mudado / cambiado /
        cambió / cambiamos / a partir de / désormais / ne \w+ plus / déménagé / changé / remplacé / passé à /
        à partir de
        """,
        r"改成",
        r"改为",
        r"换成",
        r"搬到",
        r"不再",
    ),
    Cue.NOW: _pattern(  # So it is today, which need not mean that it was otherwise.
        r"""
        now / nowadays / any ?more / instead / these days /
        since (?:the |last |yesterday|then|january|february|march|april|may|june|july|august|september) /
        since (?:october|november|december) /
        lately / as of late / meanwhile / by now / today / sooner / please / bitte / por favor / as of /
        just (?:started|turned|got|signed) / correction / actually / rather / again / jetzt / nun / inzwischen /
        statt(?:dessen)? / mittlerweile / ahora / en lugar de / maintenant / agora / adesso / ora
        """,
        r"现在",
        r"已经",
    ),
    Cue.EXCLUSIVE: _pattern(  # Only for some.
        r"""
        only / restricted to / reserved for / limited to / just for / except / solely / exclusively / nur /
        ausschließlich / solo / sólo / solamente / únicamente / seulement / uniquement
        """,
        r"只",
    ),
    Cue.UNIVERSAL: _pattern(  # For all.
        r"""
        all / both / every / everyone / everybody / always / any / each / anyone / alle / jede[rsn]? / immer /
        todos? / todas? / siempre / tous / toutes / toujours
        """,
        r"所有",
        r"总是",
    ),
}

# What such a fragment speaks of is over.
ENDED = _pattern(
    r"""
    ditched / dumped / shelved / dissolved / disbanded / merged into / nobody uses / no one uses / torn down /
    demolished / outdated / went away / thrown out / stop using / let go / handed back / bankrupt /
    retired? / abolished / discontinued / deprecated / quit / died / dead / sold / closed down / shut down /
    switched off / decommissioned / scrapped / no longer / any ?(?:more|longer) / wiped /
    (?:is|are)n't (?:\w+ ){0,2}(?:used|supported|available|needed|there) / thing of the past / contract \w*ended /
    over with / done with / done away with / gone off / replaced / expired / obsolete / phased out /
    turned (?:\w+ ){0,4}off / g[eo]t rid of / threw (?:out|away) / took down /
    (?:has|have|he|she|they|who|\w+) left(?= ?[;,.]| the (?:company|team|project)|$) / account is closed /
    in favou?r of / gave up / given up / withdrawn / taken down / pulled / out of service / unplugged / archived /
    sunset / end of life / eol / superseded / ceased / axed / killed / ripped out / binned / unsupported /
    wound down / history now / is history / is out / was out / not there any / doesn't exist / does not exist /
    don't exist / put an end to / ended / finished with / off the menu / no more / abgeschafft / abgeschaltet /
    entfernt / gelöscht / eingestellt / eliminado / cancelado / supprimé / arrêté / abandonné
    """,
    r"(?<!are )(?<!gets )(?<!get )(?<!be )\b(?:removed|deleted|cancell?ed|dropped|stopped)\b",
    r"\bgone\b(?! (?:up|down|to|through|off|well|from))",
    r"取消",
    r"删除",
    r"停用",
    r"不再",
)


def cues_in(text: str) -> frozenset[Cue]:
    found = {cue for cue, pattern in _CUES.items() if pattern.search(text)}
    return frozenset(found | {Cue.QUESTION} if _asks(text) else found)


def _asks(text: str) -> bool:
    if text.endswith(("?", "？")) or _REQUEST.search(text):
        return True
    return bool(_QUESTION_STARTS.match(text)) and not _NO_QUESTION.match(text)
