"""Reading what a caller hands to a ledger, and the sentences of its refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sudare.bilingual import Words
from sudare.errors import BudgetExceededError, EventError, LedgerError, NotPrivateError, ParameterError
from sudare.ledger.amounts import Amount
from sudare.ledger.records import BegunTick, Dataset, Reservation, TickRefusal, TickRefusedError, Window
from sudare.ledger.rules import RhoFilter
from sudare.parameters import show_fraction, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.events import KINDS, ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit

__all__ = [
    "LATER_TICK",
    "OTHER_INPUT",
    "WHY_MISSING",
    "WINDOW_CLOSED",
    "beyond_filter",
    "closed_for_good",
    "damaged",
    "exceeded",
    "is_hash",
    "old_copy",
    "other_window",
    "read_begun_tick",
    "read_cost",
    "read_event",
    "read_filter",
    "read_fingerprint",
    "read_measurements",
    "read_name",
    "read_reservation",
    "read_result",
    "read_text",
    "read_total",
    "read_unit",
    "read_window",
    "refused_tick",
    "require_same_unit",
    "still_window",
]

MAX_NAME_LENGTH = 200
MAX_DENOMINATOR = 10**100
ADD_FOR_PUBLIC_TOTAL = Words(
    "; for a public total, add a data set with 'sudare ledger add --replace'",
    "合計を公開する場合は 'sudare ledger add --replace' でデータセットを追加してください。",
)
NOTHING = Words("nothing", "なし")
EXCEEDED = Words(
    "The budget of {dataset} does not allow this release: total {total}; already spent or reserved {spent}; asked {cost}; "
    "remaining {remaining}",
    "{dataset} の予算ではこの公表はできません。総予算 {total}、消費・予約済み {spent}、今回の費用 {cost}、残り {remaining}",
)
REMAINING = Words("{remaining}.", "{remaining}。")
REMAINING_OF_FILTER = Words(
    "{remaining}, and delta = {kept} in reserve. The filter counts the cost as {asked}; a single pure release may take "
    "{single}. Many small releases fit, or plan in rho.",
    "{remaining}（予備のデルタ {kept}）。フィルターでは費用を {asked} と数えます。純粋なイプシロンの公表は 1 件あたり "
    "{single}です。小さい公表を重ねるか、ローで計画してください。",
)
NO_RELEASE = Words("none", "不可")
RELEASE_UP_TO = Words("epsilon = {epsilon} at most", "epsilon = {epsilon} まで")

LATER_TICK, OTHER_INPUT, WINDOW_CLOSED = "later tick", "other input", "window closed"
"""Why the ledger itself declares ticks missing, as the entries say it."""
WHY_MISSING: Mapping[str, Words] = {
    LATER_TICK: Words("a later tick was begun before it", "先に後の時点が開始されたため"),
    OTHER_INPUT: Words("it was begun with another input", "別の入力で開始されたため"),
    WINDOW_CLOSED: Words("the window was closed before it", "公表される前に期間が閉じられたため"),
}
REFUSED_TICKS: Mapping[TickRefusal, Words] = {
    "published": Words(
        "Tick {tick} of window {window} was published before.", "期間 {window} の時点 {tick} は公表済みです。"
    ),
    "missing": Words(
        "Tick {tick} of window {window} is missing for good ({reason}): a missing tick is never filled later.",
        "期間 {window} の時点 {tick} は欠測で確定しています（{reason}）。後から埋めることはできません。",
    ),
    "other input": Words(
        "Tick {tick} of window {window} was begun with another input. Its noise is bound to that input: the tick is missing from "
        "now on. Go on with the next one.",
        "期間 {window} の時点 {tick} は別の入力で開始されています。ノイズはその入力に結び付いているため、"
        "この時点は欠測となりました。次の時点から続けてください。",
    ),
    "other plan": Words(
        "Tick {tick} of window {window} was begun by another plan. Go on with the plan that began it, or with the next tick.",
        "期間 {window} の時点 {tick} は別の計画で開始されています。その計画で続けるか、次の時点に進んでください。",
    ),
    "beyond": Words(
        "Window {window} has {ticks} ticks, 0 to {last}; it has no tick {tick}.",
        "期間 {window} の時点は 0 から {last} までの {ticks} 個で、{tick} はありません。",
    ),
    "closed": Words(
        "Window {window} was closed by entry {entry}; no tick of it can be begun or settled.",
        "期間 {window} は {entry} 番の項目で閉じられています。時点の開始も確定もできません。",
    ),
    "not begun": Words(
        "Tick {tick} of window {window} was not begun by entry {entry}, or is no longer the tick that is open.",
        "期間 {window} の時点 {tick} は {entry} 番の項目で開始されていないか、現在開いている時点ではありません。",
    ),
}

_HASH = re.compile(r"[0-9a-f]{64}")


def is_hash(value: object) -> bool:
    """Whether a value is 32 bytes in hexadecimal digits."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def read_name(value: object, function: str) -> str:
    """The name of a data set: short, and without characters that nobody sees."""
    if (
        type(value) is not str
        or not value.isprintable()
        or value != value.strip()
        or not 0 < len(value) <= MAX_NAME_LENGTH
    ):
        requirement = Words(
            f"printable text of 1 to {MAX_NAME_LENGTH} characters that neither begins nor ends with a space",
            f"1 文字以上 {MAX_NAME_LENGTH} 文字以下で、前後に空白のない、表示できる文字列",
        )
        raise ParameterError("name", function, requirement, shown(value))
    return value


def read_text(value: object, parameter: str, function: str) -> str:
    """Words for people."""
    if type(value) is not str:
        raise ParameterError(parameter, function, Words("text", "文字列"), shown(value))
    return value


def read_fingerprint(value: object, function: str, parameter: str = "fingerprint") -> str:
    """A hash of a release."""
    if not isinstance(value, str) or not is_hash(value):
        raise ParameterError(
            parameter,
            function,
            Words(
                "a SHA-256 hash in 64 hexadecimal digits (0-9, a-f)", "SHA-256 のハッシュ（16 進数 64 桁、0-9、a-f）"
            ),
            shown(value),
        )
    return value


def read_unit(value: object, function: str) -> Unit:
    """Who is protected."""
    if type(value) is not Unit:
        raise ParameterError("unit", function, "a Unit, such as Unit('person')", shown(value))
    return value


def read_cost(value: object, function: str, parameter: str = "cost") -> Budget:
    """A budget that can be written down and read again."""
    budget = read_budget(value, function, parameter)
    try:
        readable = Budget.from_dict(budget.to_dict()) == budget
    except (EventError, ValueError):  # Python refuses to write out whole numbers of more than 4300 digits
        readable = False
    if not readable:
        raise LedgerError(
            "The budget is a fraction with thousands of digits; give it as a decimal number.",
            "予算の分数が数千桁あります。小数で指定してください。",
        )
    return budget


def read_total(value: object, function: str) -> Budget:
    """A total that stays short when costs are taken from it."""
    total = read_cost(value, function, "total")
    amount = Amount.of(total)
    if max(amount.main.denominator, amount.delta.denominator) > MAX_DENOMINATOR:
        raise LedgerError(
            "The total is a fraction of more than 100 digits; give it as a decimal number.",
            "総予算の分数が 100 桁を超えています。小数で指定してください。",
        )
    return total


def read_filter(wanted: object, reserve: object, function: str) -> None:
    """Whether a total is kept as a rho filter; a reserve belongs to a filter."""
    if type(wanted) is not bool:
        raise ParameterError("rho_filter", function, Words("True or False", "True または False"), shown(wanted))
    if reserve is not None and not wanted:
        raise ParameterError(
            "reserve",
            function,
            Words("left out where there is no rho filter", "rho フィルターがない場合は省略"),
            shown(reserve),
        )


def read_reservation(value: object, function: str) -> Reservation:
    """A reservation of some ledger."""
    if type(value) is not Reservation:
        raise ParameterError("reservation", function, "a Reservation, from reserve()", shown(value))
    return value


def read_window(value: object, function: str) -> Window:
    """A window of some ledger."""
    if type(value) is not Window:
        raise ParameterError("window", function, "a Window, from ledger.windows.open()", shown(value))
    return value


def read_begun_tick(value: object, function: str) -> BegunTick:
    """A tick that was begun in some ledger."""
    if type(value) is not BegunTick:
        raise ParameterError("begun", function, "a BegunTick, from ledger.windows.begin_tick()", shown(value))
    return value


def read_event(value: object) -> ReleaseEvent:
    """The event of a private release."""
    if type(value) is not ReleaseEvent:
        raise EventError(
            Words(
                f"A ledger takes release events. Got an object of type {type(value).__name__}.",
                f"台帳に記録できるのは公表イベントだけです（指定: {type(value).__name__} 型の値）。",
            )
        )
    if not value.is_private:
        raise NotPrivateError(
            Words(
                f"The result of {value.mechanism!r} was drawn from research entropy: it is not private, and must not be "
                f"settled or published.",
                f"{value.mechanism!r} の結果は研究用の乱数から引かれたもので、プライバシーは保護されません。"
                "確定も公表もしてはいけません。",
            )
        )
    return value


def read_measurements(values: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """What will be drawn: of the kinds that an event takes, and no subclasses."""
    every = tuple(values)
    if not all(type(value) in KINDS for value in every):
        raise ParameterError("measurements", "reserve", "measurements, such as those of an event", shown(every))
    return every


def read_result(value: object) -> Mapping[str, str]:
    """What is to be found again with a release."""
    texts = {} if value is None else value
    if not isinstance(texts, Mapping) or not all(type(text) is str for pair in texts.items() for text in pair):
        raise ParameterError("result", "settle", "a mapping from text to text", shown(value))
    return dict(texts)


def require_same_unit(unit: Unit, protected: Unit, dataset: str) -> None:
    """Refuse a release that protects others than the data set's total does, or over another time."""
    if (unit.who, unit.adjacency, unit.time) != (protected.who, protected.adjacency, protected.time):
        more = ADD_FOR_PUBLIC_TOTAL if unit.adjacency == "replace" else Words.same("")
        given, kept = (f"{one.adjacency}{'' if one.time is None else f', {one.time}'}" for one in (unit, protected))
        raise LedgerError(
            f"The release protects a {unit.who} ({given}), the total of {dataset!r} a {protected.who} "
            f"({kept}): sums over different units mean nothing. Plan the release for the same unit{more.english}.",
            f"この公表の保護単位は {unit.who}（{given}）ですが、{dataset!r} の総予算は {protected.who}"
            f"（{kept}）についてのものです。異なる単位の費用は足し合わせられません。同じ単位で計画してください。{more.japanese}",
        )


def exceeded(account: Dataset, cost: Budget, charge: Amount) -> BudgetExceededError:
    """What to say where the budget does not allow a charge."""
    dataset, rule, left = account.name, account.rule, account.left
    spent, remaining = rule.to_budget(account.committed), account.remaining
    left_over = REMAINING.format(remaining=remaining or NOTHING)
    if isinstance(rule, RhoFilter):
        most, asked = rule.next_epsilon(left), [f"rho = {show_fraction(charge.main)}"]
        asked += [f"delta = {show_fraction(charge.delta)}"] if charge.delta else []
        left_over = REMAINING_OF_FILTER.format(
            remaining=remaining or NOTHING,
            kept=show_fraction(left.delta),
            asked=asked,
            single=NO_RELEASE if most is None else RELEASE_UP_TO.format(epsilon=show_fraction(most)),
        )
    return BudgetExceededError(
        EXCEEDED.format(dataset=repr(dataset), total=rule.total, spent=spent or NOTHING, cost=cost, remaining=left_over)
    )


def beyond_filter(dataset: str, rule: RhoFilter, committed: Amount) -> BudgetExceededError:
    """What to say where past costs do not fit into a filter."""
    counted = f"rho = {show_fraction(committed.main)}, delta = {show_fraction(committed.delta)}"
    limit = f"rho = {show_fraction(rule.rho)}, delta = {show_fraction(rule.reserve)}"
    return BudgetExceededError(
        f"The rule of {dataset!r} stays as it is: by a rho filter, what is spent and reserved counts as {counted}, and no more "
        f"than {limit} is allowed. A filter helps where many small releases are made, not after a few large ones.",
        f"{dataset!r} の規則は変更されません。ローのフィルターでは消費・予約済みの分が {counted} となり、"
        f"上限 {limit} を超えます。"
        "フィルターが役立つのは小さい公表を数多く行う場合で、大きい公表の後では使えません。",
    )


def still_window(number: int) -> LedgerError:
    """What to say where somebody closes the reservation of a window as if it were for a single release."""
    return LedgerError(
        f"Reservation {number} is for a window of ticks: it is settled by ledger.windows.close, and not given back once a "
        "tick was begun or declared missing.",
        f"予約 {number} は連続公表の期間のものです。確定には ledger.windows.close を使います。"
        "時点を開始または欠測とした後は、取り消せません。",
    )


def refused_tick(kind: TickRefusal, tick: int, window: Window, **blanks: object) -> TickRefusedError:
    """What to say of a tick that cannot be what somebody wants it to be; nothing about data."""
    blanks |= {"tick": tick, "window": window.number, "ticks": window.ticks, "last": window.ticks - 1}
    return TickRefusedError(kind, REFUSED_TICKS[kind].format(**blanks))


def closed_for_good(entry: int) -> LedgerError:
    """What to say where somebody opens a window again."""
    return LedgerError(
        f"This window was closed by entry {entry} of the ledger, and is never opened again: its noise would meet a second "
        "input.",
        f"この期間は台帳の {entry} 番の項目で閉じられており、再び開くことはできません"
        "（同じノイズが別の入力に使われてしまうため）。",
    )


def other_window(window: Window) -> LedgerError:
    """What to say where somebody opens a window with other conditions than before."""
    return LedgerError(
        f"Entry {window.number} of the ledger opened this window for another cost, unit or number of ticks. A plan is not "
        "changed in the middle of a window.",
        f"この期間は台帳の {window.number} 番の項目で、別の費用・保護単位・時点数で開かれています。"
        "期間の途中で計画は変更できません。",
    )


def old_copy(entry: object) -> LedgerError:
    """What to say where an entry that somebody saw is not in the ledger."""
    return LedgerError(
        f"Entry {entry!r:.20} of the ledger is not the one that was seen before: this ledger is an old copy, or another one. "
        "Bring the latest one back; with an old copy the noise of a tick would be used twice.",
        f"台帳の {entry!r:.20} 番の項目が、以前に確認したものと一致しません。台帳が古い控えか、別の台帳に置き換わっています。"
        "最新の台帳に戻してください（古い控えを使うと、同じノイズが二度使われてしまいます）。",
    )


def damaged() -> LedgerError:
    """What to say where the tables of a ledger do not belong together."""
    return LedgerError(
        "The ledger is damaged or was changed from outside; 'sudare ledger verify' tells where.",
        "台帳が壊れているか、外部から変更されています。'sudare ledger verify' で箇所を調べられます。",
    )
