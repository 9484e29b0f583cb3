"""How a page names who is protected, and what is left of a budget."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["of_one_unit", "of_remaining", "of_unit", "of_unit_that_changes"]

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


_ONE = {
    "person": Words("one person", "1人"),
    "household": Words("one household", "1世帯"),
    "patient": Words("one patient", "患者1人"),
    "user": Words("one user", "利用者1人"),
    "customer": Words("one customer", "顧客1人"),
    "employee": Words("one employee", "従業者1人"),
    "establishment": Words("one establishment", "1事業所"),
    "company": Words("one company", "1企業"),
    "device": Words("one device", "端末1台"),
    "student": Words("one student", "生徒1人"),
}
ONE_OTHER = Words("one {who}", "{who} 1単位")


def of_unit(who: str) -> Words:
    """The protected unit; other words than the usual ones stand as they are."""
    return _UNITS.get(who, Words.same(who))


def of_one_unit(who: str) -> Words:
    """One of the protected units, as it is counted."""
    return _ONE.get(who, ONE_OTHER.format(who=who))


def of_unit_that_changes(who: str) -> Words:
    """The protected unit where it is added, removed or replaced: Japanese counts it, English has its own article."""
    return Words(of_unit(who).english, of_one_unit(who).japanese)


def of_remaining(budget: str) -> Words:
    """What is left of a budget."""
    return _BUDGETS.get(budget, Words.same(budget))
