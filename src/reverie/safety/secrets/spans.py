"""A stretch of text that is a secret, and how overlapping stretches become one."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Kinds that only say where the value stood. A vendor's own shape says more, so it wins when both match.
GENERIC = frozenset(
    {
        "api-key",
        "basic-auth",
        "bearer-token",
        "cookie",
        "password",
        "secret",
        "token",
        "url-password",
        "url-token",
    }
)


class SecretSpan(NamedTuple):
    start: int
    end: int
    kind: str


def _joined(one: SecretSpan, two: SecretSpan) -> SecretSpan:
    """The union, because the part only one of the two saw would otherwise stay readable."""
    kind = two.kind if one.kind in GENERIC and two.kind not in GENERIC else one.kind
    return SecretSpan(one.start, max(one.end, two.end), kind)


def merge_spans(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Disjoint spans in text order covering every given one."""
    result: list[SecretSpan] = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            result[-1] = _joined(result[-1], span)
        else:
            result.append(span)
    return result


def outside(spans: Iterable[SecretSpan], protected: list[tuple[int, int]]) -> Iterator[SecretSpan]:
    """The spans that touch none of the protected stretches; both come in text order."""
    index = 0
    for span in spans:
        while index < len(protected) and protected[index][1] <= span.start:
            index += 1
        if index == len(protected) or span.end <= protected[index][0]:
            yield span
