"""How a new statement stands to an old one: pairs a person would judge at a glance."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import resources

import pytest

from reverie.text.relation import Relation, RelationKind, chances_of, relate

SHIPPED = "3ec5ec0be8d8dfedaaa7e4dfa46142b9682c7b99afeb3c2fc2748eb0c3834508"
SAME, REFINES, SUPERSEDES = RelationKind.SAME, RelationKind.REFINES, RelationKind.SUPERSEDES
CONTRADICTS, UNRELATED = RelationKind.CONTRADICTS, RelationKind.UNRELATED

EXAMPLES_OF_THE_ISSUE = [
    ("likes Earl Grey", "dislikes bubble tea", UNRELATED),
    ("staging is on port 5433", "staging moved to 6432", SUPERSEDES),
    ("personal best 27:12", "trying to beat 25:50", SUPERSEDES),
    ("deploy on Fridays", "never deploy on Fridays", CONTRADICTS),
    ("never deploy on Fridays", "deploys happen Monday to Thursday", SAME),
    ("The database is MySQL.", "We might move to Postgres.", UNRELATED),
    ("The database is MySQL.", "might move to Postgres", UNRELATED),
]

REPLACED = [
    # quantities with units
    ("The kiln is fired at 980 degrees.", "The kiln is fired at 1,040 degrees."),
    ("Uploads stop at 25 MB.", "Uploads stop at 100 MB."),
    ("The hallway is 90 cm wide.", "The hallway is 1.2 metres wide."),
    ("Invoices are due within 14 days.", "Invoices are due within 30 days."),
    ("The choir has nineteen singers.", "The choir has 24 singers."),
    ("Battery warnings start at 20 %.", "Battery warnings start at 10 percent."),
    ("The parking garage charges €3 an hour.", "The parking garage charges €4 an hour."),
    # versions and identifiers
    ("The gateway runs Envoy 1.28.0.", "The gateway runs Envoy 1.31.2."),
    ("Nightly dumps go to /srv/dumps.", "Nightly dumps go to /mnt/cold/dumps."),
    ("The broker is mq1.internal:5672.", "The broker is mq3.internal:5672 now."),
    # dates, times of day, rhythms
    ("The dress rehearsal is on March 9.", "The dress rehearsal was postponed to March 16."),
    ("The kennel opens at 7:30.", "The kennel opens at 8:00."),
    ("Band practice is on Tuesdays.", "Band practice is on Thursdays."),
    ("The filter is changed every 2 weeks.", "The filter is changed every 6 weeks."),
    ("The board meets monthly.", "The board meets weekly."),
    ("Checkout is at 10.", "Checkout is at 11:30 am."),
    ("The fair takes place in June.", "The fair takes place in September."),
    # moved, renamed, replaced, ended
    ("Photos are backed up to Dropbox.", "We moved the photos from Dropbox to Backblaze."),
    ("The crate is named ledger-core.", "ledger-core has been renamed to bookkeeper."),
    ("Orders are taken over the phone.", "Phone orders were abolished, use the web form."),
    ("The shuttle stops at the old town.", "The shuttle was discontinued."),
    ("Hanna leads the platform team.", "Idris leads the platform team."),
    ("Our dentist is Dr. Kowalski.", "Our dentist is Dr. Aydin now."),
    ("User lives in Porto.", "I moved to Braga last week."),
    # preferences turned round
    ("User prefers dark roast.", "I'd rather have light roast these days."),
    ("User wants long answers.", "Please keep answers short."),
    ("Use tabs.", "Use spaces, not tabs."),
    # scope widened or narrowed
    ("All members may vote.", "Only the founders may vote."),
    ("Every ticket needs an estimate.", "Only bugs need an estimate."),
    # counts that went on
    ("User has visited 11 lighthouses.", "I've now visited 14 lighthouses."),
    ("User's best marathon is 4:02:10.", "I'm trying to beat my marathon best of 3:51:44."),
]

CONTRADICTED = [
    ("The gate is locked at night.", "The gate is never locked at night."),
    ("Smoking is allowed on the balcony.", "Smoking is forbidden on the balcony."),
    ("The cache is enabled.", "The cache is disabled."),
    ("Guests can edit the calendar.", "Guests can't edit the calendar."),
    ("User loves karaoke.", "I hate karaoke."),
    ("I dislike Rollercoasters.", "I like Rollercoasters."),
    ("User is married.", "I'm single."),
    ("The dishwasher works.", "The dishwasher is broken."),
    ("The lecture is recorded.", "The lecture isn't recorded."),
    ("I've been using Anki for my vocabulary since May, how do I add audio?", "I've never used Anki, how do I start?"),
]

SAID_AGAIN = [
    ("The gallery opens at 9:00.", "The gallery opens at nine in the morning."),
    ("The quota is 2000 MB.", "The quota is 2 GB."),
    ("Sessions time out after 90 seconds.", "Sessions time out after 1.5 minutes."),
    ("User lives in Ghent.", "I live in Ghent."),
    ("The shop is closed on Sundays.", "The shop is open Monday to Saturday."),
    ("Never push to main.", "Do not push to main."),
    ("User has three sisters.", "I have 3 sisters."),
]

REFINED = [
    ("The app uses SQLite.", "The app uses SQLite in WAL mode."),
    ("The hostel has a kitchen.", "The kitchen of the hostel is on the ground floor."),
    ("Tests run in CI.", "Tests run in CI on every push."),
    ("Reports go to Elena.", "Reports go to Elena as PDF."),
]

SIDE_BY_SIDE = [
    # other subjects
    ("The upper gate opens at 7.", "The lower gate opens at 9."),
    ("My brother lives in Turin.", "My aunt lives in Naples."),
    ("The scanner is licensed under MIT.", "The indexer is licensed under GPL."),
    ("Staging has 2 workers.", "Production has 12 workers."),
    ("User eats shellfish.", "User's wife doesn't eat shellfish."),
    # other scopes
    ("At work the user drinks tea.", "At home I drink coffee."),
    ("In winter the pool closes at 18:00.", "In summer the pool closes at 21:00."),
    ("Admins may delete projects.", "Viewers may not delete projects."),
    ("In Python use snake_case.", "In TypeScript use camelCase."),
    # hedges, plans, conditions, questions, the past, additions
    ("The wiki is Confluence.", "Perhaps we'll try Outline one day."),
    ("User has one monitor.", "I'm thinking about getting a second monitor."),
    ("The rent is 900 euros.", "The landlord may raise the rent to 950 next year."),
    ("User commutes by bus.", "If it snows I'd have to walk."),
    ("The alarm code is 4418.", "What is the alarm code?"),
    ("User plays the cello.", "As a child I played the recorder."),
    ("User speaks Danish.", "I also speak Finnish."),
    ("The newsletter goes to members.", "The newsletter goes to the press as well."),
    # lists that can grow
    ("I like Rowing.", "I like Pottery."),
    ("I dislike Olives.", "I like Capers."),
    ("User collects stamps.", "The build takes four minutes."),
]

# a denial, and a statement that does not speak of what it is limited to
LIMITED = [
    ("We never publish on Fridays.", "Run `make publish`, then tell the editors."),
    ("Never mow the lawn while it rains.", "We mow the lawn on Saturdays."),
    ("User eats cheese.", "I don't eat cheese after nine in the evening."),
    ("Cycling is allowed.", "Cycling is not allowed in the underpass."),
    ("Wir grillen mit Kohle.", "Wir grillen nicht auf dem Balkon."),
]

OTHER_ATTRIBUTES = [
    ("The barn is red.", "The barn is 12 metres long."),
    ("The van seats seven.", "The van weighs 2.1 tons."),
    ("The tower was built in 1904.", "The tower has 212 steps."),
    ("The importer is written in Go.", "The importer listens on port 7070."),
]

OTHER_LANGUAGES = [
    ("Der Aufzug funktioniert.", "Der Aufzug funktioniert nicht.", True),
    ("Die Miete beträgt 1.200 Euro.", "Die Miete beträgt 1.350 Euro.", True),
    ("Mein Bruder wohnt in Köln.", "Meine Schwester wohnt in Bonn.", False),
    ("Wir nutzen Redis.", "Vielleicht wechseln wir irgendwann zu Valkey.", False),
    ("La tienda abre a las nueve.", "La tienda abre a las diez.", True),
    ("El perro puede entrar.", "El perro no puede entrar.", True),
    ("Vivo en Sevilla.", "Ya no vivo en Sevilla, me mudé a Bilbao.", True),
    ("Hablo inglés.", "También hablo alemán.", False),
    ("J'aime les films d'horreur.", "Je n'aime pas les films d'horreur.", True),
    ("Le train part à 8h05.", "Le train part à 8h40.", True),
    ("Le code de la porte est 4711.", "Quel est le code de la porte ?", False),
    ("数据库的端口是5432。", "数据库的端口改成6543了。", True),
    ("我喝咖啡。", "我不喝咖啡。", True),
    ("会议在下午三点。", "会议在下午四点。", True),
]


NOT_IN_CONFLICT = (SAME, REFINES, UNRELATED)
GROUPS = {
    "a new value takes the old one's place": (REPLACED, (SUPERSEDES, CONTRADICTS)),
    "a denial contradicts": (CONTRADICTED, (SUPERSEDES, CONTRADICTS)),
    "the same in other words is the same": (SAID_AGAIN, (SAME,)),
    "more about the same thing refines": (REFINED, (REFINES,)),
    "what can stand side by side replaces nothing": (SIDE_BY_SIDE, NOT_IN_CONFLICT),
    "another attribute of the same thing replaces nothing": (OTHER_ATTRIBUTES, NOT_IN_CONFLICT),
    "a limited denial denies nothing else": (LIMITED, NOT_IN_CONFLICT),
}


@pytest.mark.parametrize("name", GROUPS)
def test_most_pairs_are_read_as_a_person_reads_them(name: str) -> None:
    """Nothing was learned from these pairs. A network errs now and then: seven of ten in each group."""
    pairs, kinds = GROUPS[name]
    wrong = [(old, new, found) for old, new in pairs if (found := relate(old, new)).kind not in kinds]
    assert len(wrong) <= 0.3 * len(pairs), wrong


def test_conflicts_are_told_in_other_languages() -> None:
    wrong = [(old, new) for old, new, conflict in OTHER_LANGUAGES if (relate(old, new).conflict >= 0.5) != conflict]
    assert len(wrong) <= 0.2 * len(OTHER_LANGUAGES), wrong


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("The kennel opens at 7:30.", "The kennel opens at 8:00.", SUPERSEDES),
        ("Le train part à 8h05.", "Le train part à 8h40.", SUPERSEDES),
        ("The quota is 2000 MB.", "The quota is 2 GB.", SAME),
        ("Sessions time out after 90 seconds.", "Sessions time out after 1.5 minutes.", SAME),
    ],
)
def test_two_statements_that_differ_in_a_value_only_are_told_by_the_value(
    old: str, new: str, kind: RelationKind
) -> None:
    found = relate(old, new)
    assert (found.conflict >= 0.5) == (kind is SUPERSEDES), found
    assert (found.kind is SAME) == (kind is SAME), found


def test_a_value_inside_two_long_turns_is_found() -> None:
    old = (
        "I'm looking for a good cover for my terrarium, do you know any shops? By the way, I currently keep 6 tree "
        "frogs in the terrarium and they are doing fine. I'd also like to know which plants they would enjoy the most."
    )
    new = (
        "Which lamp would you recommend for a rain forest setup? I keep 9 tree frogs in the terrarium now, so it has "
        "become a bit crowded. And do you have any ideas for a bigger water bowl that is easy to clean?"
    )
    assert relate(old, new).conflict > 5 * relate(old, "Which lamp is best for tomatoes?").conflict


def test_the_shipped_network_is_the_one_that_was_measured() -> None:
    written = (resources.files("reverie.text.weights") / "relate.onnx").read_bytes()
    assert hashlib.sha256(written).hexdigest() == SHIPPED


def test_without_the_network_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.text.relation.network", lambda *_: "it is not there")
    chances_of.cache_clear()
    found = relate("The barn is red.", "The barn was painted blue last week.")
    chances_of.cache_clear()
    assert found.conflict == 0.5 and found.confidence == 0.0, found


def test_every_relation_says_why_in_a_sentence() -> None:
    for old, new, _ in EXAMPLES_OF_THE_ISSUE:
        why = relate(old, new).why
        assert why[0].isupper() and why.endswith("."), why


def test_a_relation_cannot_be_changed_afterwards() -> None:
    found = relate("The barn is red.", "The barn is blue.")
    assert isinstance(found, Relation)
    with pytest.raises(AttributeError):
        found.conflict = 0.0  # type: ignore[misc]


def test_importing_the_room_loads_no_embedder() -> None:
    code = "import sys, reverie.text.relation as r; sys.exit(any(m in sys.modules for m in ('wordllama', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
