"""How a page names who is protected, and what is left of a budget."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["of_remaining", "of_unit"]

_UNITS = {
    "person": Words("person", "個人"),
    "household": Words("household", "世帯"),
    "patient": Words("patient", "患者"),
    "user": Words("user", "利用者"),
    "customer": Words("customer", "顧客"),
    "employee": Words("employee", "従業者"),
    "establishment": Words("establishment", "事業所"),
    "company": Words("company", "企業"),
    "device": Words("device", "端末"),
    "student": Words("student", "生徒"),
}
_BUDGETS = {"nothing": Words("nothing", "なし")}


def of_unit(who: str) -> Words:
    """The protected unit; other words than the usual ones stand as they are."""
    return _UNITS.get(who, Words.same(who))


def of_remaining(budget: str) -> Words:
    """What is left of a budget."""
    return _BUDGETS.get(budget, Words.same(budget))
