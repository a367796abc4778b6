"""Tell an attack from its mention: words in quotation marks inside somebody else's sentence."""

_REACH = 160  # characters of the line on either side
# What opens a quotation, and what closes it.
_MARKS = {'"': '"', "`": "`", "“": "”", "„": "“", "«": "»", "‘": "’", "「": "」", "/": "/", "%": "%"}


def is_mention(folded: str, start: int, end: int) -> bool:
    """Whether the span stands in quotation marks on its line, after words of the one who quotes."""
    line = folded.rfind("\n", 0, start) + 1
    before = folded[max(line, start - _REACH) : start]
    after = folded[end : end + _REACH].partition("\n")[0]
    return any(_is_open(before, mark, close) and close in after for mark, close in _MARKS.items())


def _is_open(before: str, mark: str, close: str) -> bool:
    place = before.rfind(mark)
    if place < 0 or (before.count(mark) % 2 == 0 if mark == close else close in before[place:]):
        return False
    # A value after its name (`"comment": "…"`) quotes nobody, and neither does a text that is all in quotation marks.
    said = before[:place].rstrip()
    return said != "" and not said.endswith('":')
