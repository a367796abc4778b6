"""What to look for, one module per family of attack: rules only, no code."""

from functools import cache
from importlib import import_module

from reverie.safety.rules import RuleBook

_FAMILIES = (
    *("overrides", "leaks", "impersonation", "personas", "languages", "persistence", "triggers", "authority"),
    *("sending", "transfers", "credentials", "execution", "damage"),
)


@cache
def rule_book() -> RuleBook:
    """All rules. Loaded at the first scan, so that importing the room stays cheap."""
    families = (import_module(f"reverie.safety.detectors.{family}") for family in _FAMILIES)
    return RuleBook(rule for family in families for rule in family.RULES)


@cache
def gapless_rules() -> RuleBook:
    """Rules for text whose words run together or are cut in the wrong places."""
    from reverie.safety.detectors import gapless

    return RuleBook(gapless.RULES, gapless=True)
