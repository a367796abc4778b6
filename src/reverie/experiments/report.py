"""The page of an experiment: what was compared, what is known, and how it came to be known. Markdown with a plot."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from reverie.experiments.experiment import Conclusion, Experiment, ExperimentResult, Measured, Outcome, result_so_far
from reverie.experiments.sequential import FEWEST

LOOKS = 12  # in the plot
WIDTH = 57
SENTENCES = {
    Conclusion.B_IS_BETTER: "B is better. `reverie ab promote {name}` gives it to everyone.",
    Conclusion.A_IS_BETTER: "A is better. `reverie ab roll-back {name}` gives it to everyone.",
    Conclusion.INCONCLUSIVE: "Inconclusive: there may be no difference. More units may tell.",
    Conclusion.HARM: "B does harm: a guardrail is broken. `reverie ab roll-back {name}` gives A to everyone.",
    Conclusion.NOT_SAFE_YET: "B is better in what is measured, and a guardrail is not settled yet: inconclusive.",
    Conclusion.BROKEN: "The units are not split as they should be, so nothing can be said. Look at what assigns them.",
}


def report(experiment: Experiment, outcomes: Sequence[Outcome]) -> str:
    now = result_so_far(experiment, outcomes)
    parts = [f"# {experiment.name}", "", f"- A, in use: `{experiment.a}`", f"- B: `{experiment.b}`"]
    units = len({one.unit for one in outcomes})
    parts += [f"- Began {experiment.made_at:%Y-%m-%d}; {len(outcomes):,} sessions of {units:,} units."]
    parts += [f"- Decided: {experiment.decided.replace('_', ' ')}."] if experiment.decided else []
    parts += ["", f"**{SENTENCES[now.verdict].format(name=experiment.name)}**", "", *_table(now), ""]
    parts += [*_plot(experiment, outcomes), "", *_method(experiment, now)]
    return "\n".join(parts) + "\n"


def _table(now: ExperimentResult) -> list[str]:
    lines = ["| measure | units A, B | mean A | mean B | B is better by | p |", "|---|---|---|---|---|---|"]
    for number, one in enumerate((now.metric, *now.guardrails)):
        low, middle, high = one.gain
        known = low > -inf
        span = f"{middle:+.3g} ({low:+.3g} to {high:+.3g})" if known else f"not known: {FEWEST} units each at least"
        name = f"**{one.metric.name}**" if number == 0 else f"{one.metric.name}, guardrail ±{one.metric.effect:g}"
        means = f"{one.a.mean:.3g} | {one.b.mean:.3g}"
        lines.append(f"| {name} | {one.a.number}, {one.b.number} | {means} | {span} | {one.interval.p:.3f} |")
    return lines


def _plot(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[str]:
    """The interval at a dozen looks, oldest on top; `|` is no difference, `o` the estimate."""
    places = sorted({round(len(outcomes) * (step / LOOKS) ** 2) for step in range(1, LOOKS + 1)} - {0})
    seen = [(place, result_so_far(experiment, outcomes[:place]).metric) for place in places]
    known = [(place, one) for place, one in seen if one.gain[0] > -inf]
    if not known:
        return []
    most = max(abs(edge) for _, one in known[-(LOOKS // 2) :] for edge in (one.gain[0], one.gain[2]))
    lines = [f"How much better B is in {experiment.metric.name}, by sessions seen:", "", "```"]
    lines += [f"{place:>8,} {_bar(one, most)}" for place, one in known]
    return [*lines, f"{'':9}{-most:<+28.3g}0{most:>+28.3g}", "```"]


def _bar(one: Measured, most: float) -> str:
    def at(value: float) -> int:
        return max(0, min(WIDTH - 1, round((value / most + 1) * (WIDTH - 1) / 2)))

    low, middle, high = (at(value) for value in one.gain)
    drawn = ["-" if low <= place <= high else " " for place in range(WIDTH)]
    drawn[WIDTH // 2] = "|"
    drawn[middle] = "o"
    return "".join(drawn).rstrip()


def _method(experiment: Experiment, now: ExperimentResult) -> list[str]:
    return [
        "Each unit counts once, by the mean of its sessions. All looks together, the intervals hold with a chance of",
        f"{1 - experiment.alpha:.0%}: it can be looked at daily, and ended at any time. They take means for normal, so",
        f"nothing is said below {FEWEST} units in each arm. B is called better only if no guardrail can be worse by",
        "more than is put up with.",
        f"The split of the units has a chance of {now.split:.3f}.",
    ]
