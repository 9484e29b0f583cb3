"""The windows of a series that have private state: whose they are, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from datetime import datetime

from sudare.ledger import Ledger, open_ledger
from sudare.ledger.checks import WINDOW_CLOSED
from sudare.ledger.records import TickRefusedError, WindowState
from sudare.releases.kinds.series.claims import WindowClaim, account_name, read_claim
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.days.report import make_report
from sudare.releases.kinds.series.plan_file import SeriesPlan, TickPlan
from sudare.releases.kinds.series.state import WindowFolder

__all__ = ["close_window", "close_windows_before", "require_same_plan", "window_folder"]


def window_folder(plan: TickPlan) -> WindowFolder:
    """The private state of the window of a tick."""
    following = plan.tick.window + plan.series.clock.window
    return WindowFolder(
        plan.series.state_of(plan.tick.window), plan.window_fingerprint, following.strftime("%Y-%m-%d %H:%M")
    )


def require_same_plan(plan: SeriesPlan, tick: Tick, ledger: Ledger) -> None:
    """Refuse a plan that was changed within a window that has begun, or that shares its private folder with another one.

    Raises:
        InputError: if a window that overlaps the tick's was claimed by something else.
        LedgerError: if a claim is damaged.
    """
    account = account_name(ledger.secret(plan.ledger.dataset))
    ends = tick.window + plan.clock.window
    for began, claim in _claims(plan):
        is_over = claim is not None and claim.ends_by(tick.window)
        if claim is None or began >= ends or is_over:
            continue
        # Windows of one plan do not overlap: one that began at another time is that of a plan with another beginning.
        if began != tick.window or (claim.fingerprint, claim.account) != (plan.fingerprint(began), account):
            raise claim.refusal(plan.file.name)


def close_windows_before(plan: SeriesPlan, window: datetime, *, ledger: Ledger | None = None) -> list[datetime]:
    """Close every window of a series that is over when another one begins, and has state still; gives when they began.

    See `close_window` for the order of its steps. A window of another account is left alone.

    Args:
        plan: of the series.
        window: those that are over at this moment are closed.
        ledger: the plan's ledger, where it is open already.

    Raises:
        LedgerError: if the ledger or the claim of a window cannot be used.
    """
    closed = []
    with open_ledger(plan.ledger.location) if ledger is None else nullcontext(ledger) as opened:
        account = account_name(opened.secret(plan.ledger.dataset))
        for began, claim in _claims(plan):
            is_ours = claim is None or claim.account == account
            if is_ours and (began < window if claim is None else claim.ends_by(window)):
                close_window(plan, began, ledger=opened)
                closed.append(began)
    return closed


def close_window(plan: SeriesPlan, began: datetime, *, ledger: Ledger | None = None) -> None:
    """Close one window: its report is made, its key is destroyed, and the ledger settles it. A tick on its way is waited for.

    In this order, each step of which can be repeated: no tick can be begun any more; the report is made from what was published;
    the key is destroyed; the ledger settles, with the hash of the report; the state is removed. Whoever is stopped on the way
    closes the window again, and gets the same report. A window of a plan that has been changed since has no report.

    Args:
        plan: of the series.
        began: when the window did.
        ledger: the plan's ledger, where it is open already.

    Raises:
        OutputError: if the report cannot be written; nothing is destroyed then.
        LedgerError: if the ledger or the claim of the window cannot be used.
    """
    folder = window_folder(plan.at(plan.clock.tick_of(began, 0)))
    claim = read_claim(folder.folder)
    fingerprint = plan.fingerprint(began) if claim is None else claim.fingerprint
    with (
        open_ledger(plan.ledger.location) if ledger is None else nullcontext(ledger) as opened,
        opened.alone_with(plan.ledger.dataset, fingerprint),
    ):
        known = _without_open_ticks(plan.ledger.dataset, fingerprint, opened)
        is_same = fingerprint == plan.fingerprint(began)
        report = make_report(plan, began, known, opened) if known is not None and is_same else {}
        folder.destroy_key()
        if known is not None and not known.is_closed:
            event = plan.design.event() if claim is None else claim.release_event()
            opened.windows.close(known.window, event, report)
        folder.destroy()


def _without_open_ticks(dataset: str, fingerprint: str, ledger: Ledger) -> WindowState | None:
    """What the ledger knows of a window, each of whose ticks was settled or is missing for good from now on."""
    known = ledger.windows.find(dataset, fingerprint)
    if known is not None and known.to_come:
        # Somebody may settle the last tick in this very moment.
        with suppress(TickRefusedError):
            ledger.windows.miss_tick(known.window, known.window.ticks - 1, WINDOW_CLOSED)
        known = ledger.windows.find(dataset, fingerprint)
    return known


def _claims(plan: SeriesPlan) -> Iterator[tuple[datetime, WindowClaim | None]]:
    """The windows that have state, the earliest first, and what claimed them."""
    if not plan.state.is_dir():
        return
    for folder in sorted(plan.state.glob("window-*")):
        try:
            began = datetime.strptime(folder.name, "window-%Y-%m-%dT%H%M%S")
        except ValueError:
            continue
        yield began, read_claim(folder)
