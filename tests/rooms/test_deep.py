"""Deep: what belongs together, what takes the place of what, how it is worded, what is kept out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from reverie.deep.clauses import clauses
from reverie.deep.dating import order_of
from reverie.deep.decision import Decision, Verb
from reverie.deep.judging import Mind, deepen
from reverie.deep.material import Known, Noted
from reverie.deep.matters import matters
from reverie.deep.noting import noted
from reverie.deep.subjects import about, same_matter
from reverie.deep.wording import as_it_is_now, tidy
from reverie.kernel.origin import Origin
from reverie.memory.operation import entry_hash
from reverie.sessions.session import Head, Said, Session, Turn

NOW = datetime(2026, 6, 15, 3, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=200)
DOCUMENTS = {"person": "USER.md", "world": "MEMORY.md"}
_numbers = count()


def known(
    text: str, since: datetime | None = LONG_AGO, seen: datetime = LONG_AGO, document: str = "MEMORY.md"
) -> Known:
    return Known(document, text, document, entry_hash(text), since, seen)


def heard(*sessions: str, speaker: str = "ann", origin: Origin = Origin.OWNER) -> list[Noted]:
    """Each text is what the person says in a session of its own, a day after the other."""
    found = []
    for day, words in enumerate(sessions):
        at = NOW - timedelta(days=7 - day)
        turns = [Said("user", "Can you look?"), Said("assistant", "Yes."), Said("user", words)]
        origins = (origin, Origin.AGENT, origin)
        name = f"s{next(_numbers)}"
        numbered = tuple(Turn(n, said, who) for n, (said, who) in enumerate(zip(turns, origins, strict=True), 1))
        found += noted(Session(Head(name, speaker, started_at=at), numbered), speaker, lambda: f"c{next(_numbers)}")
    return found


def decided(entry: Known | None, *sessions: str) -> list[Decision]:
    mind = Mind((entry,) if entry else (), DOCUMENTS, NOW, owner="ann")
    return list(deepen(heard(*sessions), mind).decisions)


@pytest.mark.parametrize(
    ("old", "said", "new"),
    [
        (
            "Staging DB is db1.internal:5432, database `shop`.",
            "Our staging db moved to db2.internal:6432 on Friday, db1 has been switched off.",
            "Staging DB is db2.internal:6432, database `shop`.",
        ),
        (
            "CI for the simulator runs on Jenkins (ci.lab.local).",
            "CI moved from Jenkins to Buildkite last week, the Jenkins box is gone.",
            "CI for the simulator runs on Buildkite.",
        ),
        ("The user is called Sven.", "No, I'm called Søren, not Sven.", "The user is called Søren."),
        ("Release manager is Halvard.", "Nkechi is release manager now, Halvard left.", "Release manager is Nkechi."),
        (
            "Takes oat milk in everything.",
            "I told you, soy milk instead of oat milk now.",
            "Takes soy milk in everything.",
        ),
        (
            "Itziar vive en Valencia (hora peninsular, Europe/Madrid).",
            "Ojo, ya no vivo en Valencia: desde abril vivo en Ciudad de México (America/Mexico_City).",
            "Itziar vive en Ciudad de México (America/Mexico_City).",
        ),
        (
            "Rui trabalha na loja de Braga.",
            "Atenção: já não trabalho em Braga, desde julho trabalho na loja do Porto.",
            "Rui trabalha na loja do Porto.",
        ),
        (
            "Le marché a lieu le mardi matin.",
            "Non, le marché a lieu le jeudi matin maintenant.",
            "Le marché a lieu le jeudi matin.",
        ),
        ("定例会議は月曜日の10時です。", "定例会議は今は火曜日の14時です。", "定例会議は火曜日の14時です。"),
    ],
)
def test_what_changed_is_exchanged_and_what_is_still_true_stays(old: str, said: str, new: str) -> None:
    (decision,) = decided(known(old), said)
    assert (decision.verb, decision.text, decision.asks) == (Verb.SUPERSEDE, new, "")


def test_an_entry_of_unknown_age_a_newer_one_and_a_read_only_one_are_not_overtaken() -> None:
    said = "Releases are tagged on Mondays now, not on Wednesdays."
    text = "Releases are tagged on Wednesdays."
    (unknown,) = decided(known(text, None, NOW), said)
    assert unknown.verb is Verb.SUPERSEDE and "cannot be told" in unknown.asks
    (newer,) = decided(known(text, NOW, NOW), said)
    assert newer.verb is Verb.REDUNDANT and "newer" in newer.reason
    (elsewhere,) = decided(Known("AGENTS.md", text, None, "", LONG_AGO, LONG_AGO), said)
    assert "AGENTS.md" in elsewhere.asks


def test_a_thing_that_is_gone_for_good_is_removed() -> None:
    (decision,) = decided(
        known("The #standup bot posts at 09:15."),
        "The standup bot has been switched off for good, we no longer use it.",
    )
    assert decision.verb is Verb.REMOVE and decision.target is not None


def test_order_is_told_by_dates_and_unknown_is_not_now() -> None:
    assert order_of(NOW, known("x", LONG_AGO)) == "later"
    assert order_of(LONG_AGO, known("x", NOW)) == "earlier"
    assert order_of(NOW, known("x", None, LONG_AGO)) == "later"
    assert order_of(LONG_AGO, known("x", None, NOW)) == order_of(None, known("x")) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        ("Please remember that my password is [redacted:password].", Verb.SENSITIVE),
        ("I was diagnosed with epilepsy and I always take the train.", Verb.SENSITIVE),
        ("I hate Mondays, never wake me again haha.", Verb.EPHEMERAL),
        ("From now on always call me Majesty. Just kidding, please don't.", Verb.EPHEMERAL),
    ],
)
def test_what_is_private_or_not_meant_is_kept_out(words: tuple[str, Verb]) -> None:
    said, verb = words
    assert {decision.verb for decision in decided(None, said)} <= {verb, Verb.EPHEMERAL}


def test_what_is_known_already_is_not_said_twice() -> None:
    (decision,) = decided(
        known("Wants all temperatures in Celsius.", document="USER.md"), "I want all temperatures in Celsius."
    )
    assert decision.verb is Verb.REDUNDANT


def test_a_wish_that_was_taken_back_speaks_for_nothing_and_takes_its_entry_along() -> None:
    (decision,) = decided(
        None, "From now on always end letters with a poem.", "Forget what I said about the poem at the end of letters."
    )
    assert decision.verb is Verb.EPHEMERAL
    (kept,) = decided(
        known("Always end letters with a poem."), "Forget what I said about the poem at the end of letters."
    )
    assert kept.verb is Verb.REMOVE


def test_statements_about_one_thing_are_one_matter_and_people_stay_apart() -> None:
    mine = heard("Always use the 24-hour clock with me.", "I want all times in 24-hour format.")
    assert [matter.is_theme for matter in matters(mine)] == [True]
    theirs = heard("I prefer the 12-hour clock, always.", speaker="bob", origin=Origin.MEMBER)
    assert len(matters([*mine, *theirs])) == 2
    other = heard("Always sign with my full name.")
    assert len(matters([*mine, *other])) == 2


def test_people_who_disagree_get_scoped_rules() -> None:
    first = heard("Please always indent with tabs.", speaker="ann", origin=Origin.MEMBER)
    second = heard("Please always indent with spaces, never tabs.", speaker="bob", origin=Origin.MEMBER)
    decisions = deepen([*first, *second], Mind((), DOCUMENTS, NOW)).decisions
    assert sorted(one.text.partition(":")[0] for one in decisions) == ["For Ann", "For Bob"]
    assert all("said otherwise" in one.reason for one in decisions)


def test_clauses_tell_what_holds_from_what_is_over() -> None:
    parts = clauses("Careful, staging is db2.internal now, not db1.")
    assert parts.names_over("en") == {"db1"} and parts.denies
    assert clauses("We switched from Slack to Zulip.").moved == (("Slack", "Zulip"),)
    assert clauses("No emojis in my mails.").over == ()


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("From now on, write the reports in English please.", "Write the reports in English."),
        ("Retiens que je compte toujours en grammes.", "Compte toujours en grammes."),
        ("Recuerda que soy vegetariana.", "Es vegetariana."),
        ("No emojis in my mails.", "No emojis in my mails."),
        ("Releases happen every Wednesday, so this has to be merged on Tuesday.", "Releases happen every Wednesday."),
        ("Times in UTC confuse them, please convert them.", "Times in UTC confuse them, convert them."),
    ],
)
def test_wording_is_short_and_declarative(said: str, line: str) -> None:
    language = "fr" if said.startswith("Retiens") else "es" if said.startswith("Recuerda") else "en"
    assert tidy(said, language) == line


def test_a_telling_of_a_change_leaves_what_is_true_now() -> None:
    assert as_it_is_now("The wiki is on alder now, birch is switched off.") == "The wiki is on alder."


def test_subjects_are_the_words_that_carry_meaning() -> None:
    assert about("Please always use the 24-hour clock.") >= {"24", "hour", "clock"}
    assert "always" not in about("Please always use the 24-hour clock.")
    assert same_matter("Always use tabs.", "Prefers trains over planes.", "en") == 0.0


@pytest.mark.parametrize(
    ("old", "said", "new"),
    [
        (
            "Staging database: db1.internal, port 5433, user shop.",
            "Heads up: we moved the staging database last night. It is db2.internal now, port 6432 because pgbouncer"
            " sits in front of it.",
            "Staging database: db2.internal, port 6432, user shop.",
        ),
        (
            "Staging DB host is db1.internal\nport 5433",
            "Staging isn't on db1 any more, db1 is switched off. It's db2.internal:6432.",
            "Staging DB host is db2.internal port 6432.",
        ),
        (
            "Staging database: db1.internal:5433.",
            "The old database machine is gone. Staging uses db2.internal:6432 from today.",
            "Staging database: db2.internal:6432.",
        ),
        (
            "Livraison de farine : Moulins Perrault, chaque mardi à 5 h, porte de la cour.",
            "Non, la farine n'arrive plus le mardi. Depuis le 1er octobre Perrault livre le jeudi, toujours à 5 h.",
            "Livraison de farine: Moulins Perrault, chaque jeudi à 5 h, porte de la cour.",
        ),
        (
            "De aannemer van de verbouwing is Van Dijk Bouw.",
            "De aannemer van de verbouwing is nu De Wit, niet meer Van Dijk Bouw.",
            "De aannemer van de verbouwing is De Wit.",
        ),
    ],
)
def test_every_value_is_exchanged_whole(old: str, said: str, new: str) -> None:
    assert [(one.verb, one.text) for one in decided(known(old), said) if not one.rejected] == [(Verb.SUPERSEDE, new)]


def test_a_change_without_a_value_is_no_fact_of_its_own() -> None:
    (only,) = decided(None, "Heads up: we moved the staging database last night.")
    assert only.verb is Verb.EPHEMERAL


def test_a_reason_given_beside_a_rule_takes_nothings_place() -> None:
    entry = known("Sam runs a small tea shop in Graz; Priya does the support.")
    decisions = decided(entry, "we never deploy on Fridays, Priya in support is alone on weekends")
    assert not any(one.changes_known for one in decisions)


def test_what_is_said_again_changes_nothing() -> None:
    entry = known("El servidor de copias es bkp-norte; la copia diaria sale a las 02:00.")
    again = "Como siempre la copia diaria sale a las 02:00 desde el servidor de copias bkp-norte, no toques nada."
    decisions = decided(entry, "Recuerda que la copia diaria sale a las 02:00 en bkp-norte.", again)
    assert all(one.verb is Verb.REDUNDANT for one in decisions)


def test_taking_back_where_there_is_nothing_says_nothing() -> None:
    assert decided(None, "yes, ignore it.") == []


def test_one_word_in_common_makes_no_contradiction() -> None:
    entry = known("Reads mails on the phone between two meetings, so keep every mail short.", document="USER.md")
    (decision,) = decided(entry, "I hate phone calls.", "I really hate phone calls, write instead.")
    assert decision.verb is Verb.PROMOTE


def test_who_is_only_named_beside_the_point_takes_the_entry_along_by_no_means() -> None:
    entry = known("Nkechi signs the releases, Halvard went to the other team.")
    (decision,) = decided(entry, "Halvard doesn't sign releases any more.")
    assert decision.verb is not Verb.REMOVE or (decision.standing and decision.standing.confidence < 0.85)


def test_what_takes_a_value_s_place_says_nothing_twice() -> None:
    (bins,) = decided(
        known("The glass bin is emptied on Mondays."),
        "From May on the glass bin is emptied on Fridays instead of Mondays.",
    )
    assert bins.text == "The glass bin is emptied on Fridays."
    (limit,) = decided(
        known("Stay under 90 dollars for the weekly ads."), "I raised the weekly ads from 90 to 120 dollars."
    )
    assert limit.text == "Stay under 120 dollars for the weekly ads."


def test_two_ways_to_say_that_one_took_the_others_place_are_one_matter() -> None:
    first = "We had to install Zulip because the office stopped using Slack."
    (matter,) = matters(heard(first, "The office chat is in Zulip since May, Slack is switched off."))
    assert len(matter.sessions) == 2


def test_what_the_agent_did_is_not_kept() -> None:
    (decision,) = decided(None, "No, you forgot the header again.", "No, you forgot the header row again.")
    assert decision.verb is Verb.EPHEMERAL


def test_what_stands_there_in_other_words_is_not_added_again() -> None:
    entry = known("Don't use floats for prices, we store every amount as an integer number of cents.")
    (decision,) = decided(entry, "Amounts are integers in cents throughout our code, floats are forbidden for prices.")
    assert decision.verb is Verb.REDUNDANT


def test_numbers_of_accounts_and_codes_of_doors_are_not_kept() -> None:
    (account,) = decided(None, "Always transfer it to DE89 3704 0044 0532 0130 00, that's my account.")
    assert account.verb is Verb.SENSITIVE
    assert all(
        one.verb is Verb.SENSITIVE for one in decided(None, "Remember that the alarm code of the store is 4471.")
    )


def test_what_is_taken_for_granted_at_work_speaks_for_what_was_said() -> None:
    stated, at_work = "All our feature flags sit in Unleash, don't hard-code them.", "Put it behind a flag in Unleash."
    [matter] = matters(heard(stated, at_work))
    assert [one.words for one in matter.said] == [stated] and [one.words for one in matter.again] == [at_work]
    assert len(matter.sessions) == 2
    for other in ("Put a new flag in front of the seat map.", "Put it behind a flag in LaunchDarkly.", at_work + "?"):
        assert not any(one.again for one in matters(heard(stated, other))), other
    [decision] = deepen(heard(stated, at_work), Mind((), DOCUMENTS, NOW, owner="ann")).decisions
    assert [(one.quote, one.weight) for one in decision.evidence] == [(stated, "support"), (at_work, "context")]
    assert "Unleash, don't" in decision.text


def test_a_reason_and_its_value_are_not_exchanged_by_halves() -> None:
    entry = known("Paper bin goes out on Monday night because they come on Tuesday.")
    [decision] = decided(entry, "The paper bin is collected on Thursdays now, not on Tuesdays any more.")
    assert decision.verb is Verb.SUPERSEDE and "Thursday" in decision.text and "Monday" not in decision.text


@pytest.mark.parametrize(
    ("old", "said", "new"),
    [
        (
            "Class bookings come in through Acuity.",
            "we dropped Acuity at Easter, everybody books through Bookwhen.",
            "Class bookings come in through Bookwhen.",
        ),
        (
            "Head route setter: Rafe.",
            "Take Rafe off the list, he left at the end of July, Ksenia is head setter.",
            "Head route setter: Ksenia.",
        ),
        ("A day pass costs 14 €.", "The day pass is up to 15.50 now, no longer 14.", "A day pass costs 15.50 €."),
        (
            "Orchestra rehearsals are on Wednesdays at 18:30 in the gym.",
            "Rehearsals have moved to Tuesdays at 6pm in the gym.",
            "Orchestra rehearsals are on Tuesdays at 6pm in the gym.",
        ),
    ],
)
def test_what_took_a_place_is_named_in_it(old: str, said: str, new: str) -> None:
    [decision] = [one for one in decided(known(old), said) if one.changes_known]
    assert decision.text == new


def test_a_value_taken_for_granted_in_two_sessions_is_how_things_are() -> None:
    entry = known("Glaze firing at the studio: 1220 °C, 15 minute hold.")
    first = "Make me a sheet for the wall. Glaze firing is 1240 °C with a 15 minute hold."
    second = "Our glaze firing is 1240, so which cone am I after?"
    [decision] = [one for one in decided(entry, first, second) if one.changes_known]
    assert decision.text == "Glaze firing at the studio: 1240 °C, 15 minute hold."
    assert not any(one.changes_known for one in decided(entry, second)), "once may be a slip"


def test_the_last_word_of_a_week_counts() -> None:
    entry = known("Minutes of the society are written in Etherpad.")
    first = "We're off Etherpad, the server was switched off. Minutes are in HackMD."
    last = "We moved away from HackMD. The minutes live in CryptPad now."
    changes = [one.text for one in decided(entry, first, last) if one.changes_known]
    assert changes == ["Minutes of the society are written in CryptPad."]


def test_leave_given_in_other_words_is_for_a_person() -> None:
    said = "Put Fenella on copy, copy her in on all the outage mails from here on.", "Fenella on copy, as every time."
    decisions = [one for one in decided(None, *said) if not one.rejected]
    assert decisions and all(one.asks for one in decisions if "Fenella" in one.text)


@pytest.mark.parametrize(
    "said",
    [
        "It's always the boat that gets the blame.",
        "So diplomatisch bin ich nie.",
        "Due sono della contessa, quella non decide mai.",
        "Never digs, ever, and he only ever sows when the moon is waning.",
        "Auf keinen Fall.",
        "Ole wohnt in Bergen, isst jeden Tag Fisch und wird nie krank.",
        "Inspector Harrow never takes sugar, always sits with his back to the wall.",
        "Jamais le temps, jamais la camionnette, toujours la balance !",
        "Non è mai il wifi, è sempre colpa mia.",
        "Nooit de brug, altijd de sluis.",
        "Dizem sempre que está na mão do colega.",
    ],
)
def test_an_always_that_rules_nothing_is_not_kept(said: str) -> None:
    assert all(one.rejected or one.verb is Verb.LOW_CONFIDENCE for one in decided(None, said))


def test_who_only_says_what_is_over_puts_nothing_in_its_place() -> None:
    entry = known("Henrike wohnt in Kiel und fährt von dort zu den Orgeln.")
    ends = "Nicht wieder Kiel, da wohne ich nicht mehr."
    assert all(one.verb is not Verb.SUPERSEDE for one in decided(entry, ends))
    moved = "Aus Kiel bin ich Ende Februar weggezogen, ich wohn jetzt in Graz."
    [change] = [one for one in decided(entry, moved, ends) if one.changes_known]
    assert change.verb is Verb.SUPERSEDE and "Graz" in change.text and "Kiel" not in change.text


def test_a_thing_is_the_same_by_its_short_name() -> None:
    entry = known("Die Dokumentation wird mit Sphinx gebaut (`make html` in docs/).")
    said = "Sphinx haben wir vorletzte Woche rausgeworfen, die Doku bauen wir inzwischen mit MkDocs."
    [change] = [one for one in decided(entry, said) if one.changes_known]
    assert "MkDocs" in change.text and "make html" not in change.text


def test_who_says_that_they_have_said_it_before_speaks_of_the_same_wish() -> None:
    first = "D'ora in avanti le misure me le dai sempre in centimetri."
    again = "Ancora? Centimetri ti ho detto, niente più millimetri, per nessun lavoro."
    [decision] = [one for one in decided(None, first, again) if not one.rejected]
    assert len(decision.matter.sessions) == 2


@pytest.mark.parametrize(
    "said",
    [
        "We never deploy on Fridays.",
        "Kilometres for me, always.",
        "Dammi sempre le distanze in chilometri.",
        "Money is always Decimal in this code base, never float.",
        "Las actas se numeran por año y mes, por ejemplo 2026-05, nunca con número correlativo.",
        "Schreib mir bei Rechnungsthemen immer auf Deutsch.",
    ],
)
def test_a_rule_is_one_where_it_asks_for_something_or_gives_a_value(said: str) -> None:
    assert any(one.verb is Verb.PROMOTE for one in decided(None, said))


def test_what_somebody_keeps_saying_ends_nothing() -> None:
    entry = known("CI is GitHub Actions; the runners are self-hosted in the Frankfurt rack.")
    said = "Asking because Ines keeps saying GitHub Actions is dead and nobody serious uses it."
    assert not any(one.changes_known for one in decided(entry, said))


def test_numbers_are_alike_as_a_whole_or_not_at_all() -> None:
    assert not about("Nothing lives at 10.0.4.17 any longer.") & about("Mine says 17.4.")
    assert {"influx"} <= about("InfluxDB") and {"woensdag"} <= about("op woensdagavond", "nl")


def test_a_code_that_is_over_is_exchanged_for_the_one_it_is_now() -> None:
    entry = known("Solène enseigne en CE2 à l'école Jean-Moulin.")
    said = "Non, je n'ai plus les CE2 ! Depuis la rentrée de janvier j'ai repris la classe de CM1 de Mme Le Goff."
    [change] = [one for one in decided(entry, said) if one.changes_known]
    assert change.text == "Solène enseigne en CM1 à l'école Jean-Moulin."


def test_what_was_so_in_the_old_days_is_not_kept() -> None:
    assert all(
        one.rejected for one in decided(None, "Antigamente vinha de oito em oito minutos e eu sentava-me sempre.")
    )


def test_texts_in_one_language_are_not_alike_by_their_letters() -> None:
    one, other = "Zawsze w sobotę pada deszcz i wieje.", "Panna młoda chce wszystkie zdjęcia w sepii."
    assert same_matter(one, other, "pl") < 0.5
