"""The limits of a client's owner: a task that gives out sums over too few people, or that costs too much, gets no report.

A task file comes from the collector. A smallest batch of 1 would show every value to the collector, so the device looks at it
before anything is split or sent.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sudare.bilingual import Words
from sudare.collect.prio.responses import RandomizedResponse
from sudare.collect.prio.task import Task
from sudare.collect.transitions.rounding import cautious_digits
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer

__all__ = ["epsilon_of", "require_within_limits"]


def epsilon_of(task: Task) -> Fraction | None:
    """What a report to a task costs its sender if both aggregators conspire; None without randomized response.

    Example:
        >>> from sudare.collect.prio.limits import epsilon_of
        >>> from sudare.collect.prio.task import TaskMeasurement, Task
        >>> urls = {"leader_url": "http://127.0.0.1:8001", "helper_url": "http://127.0.0.1:8002"}
        >>> keys = {f"{role}_key": bytes([i]) * 32 for i, role in enumerate(("leader", "helper", "collector"))}
        >>> task = Task(bytes(32), TaskMeasurement("count"), 100, **urls, **keys, token_digest=bytes(32), keep=Fraction(1, 2))
        >>> round(float(epsilon_of(task)), 4)  # ln 3
        1.0986
    """
    return None if task.response is None else task.response.epsilon


def require_within_limits(
    task: Task,
    *,
    minimum_batch_at_least: int | None = None,
    epsilon_at_most: Rational | None = None,
    randomize: Any = None,
    function: str = "send_report",
) -> None:
    """Refuse a task that goes beyond what a client's owner allows.

    Args:
        task: what is collected.
        minimum_batch_at_least: how many reports a batch must have before anything of it is given out, at least.
        epsilon_at_most: what a report may cost, at most, even if both aggregators conspire.
        randomize: what the client does to its value in place of the task's randomized response.
        function: who asks, for errors.

    Raises:
        InputError: if the task goes beyond a limit.
        ParameterError: if a limit is not a number, or nothing is known of what ``randomize`` costs.
    """
    if minimum_batch_at_least is not None:
        least = exact_integer(
            minimum_batch_at_least,
            "minimum_batch_at_least",
            function,
            Words("a whole number >= 1", "1 以上の整数"),
            smallest=1,
        )
        if task.minimum_batch < least:
            raise InputError(
                f"This task gives out sums over as few as {task.minimum_batch:,} reports, and your limit is {least:,}. "
                "Nothing was sent. Ask for a task with a larger smallest batch, or lower your limit.",
                f"このタスクは {task.minimum_batch:,} 件の報告から合計を公開しますが、あなたの下限は {least:,} 件です。"
                "何も送信していません。最小バッチの大きいタスクを求めるか、下限を下げてください。",
            )
    if epsilon_at_most is None:
        return
    requirement = Words("a number above 0", "0 より大きい数")
    most = exact_fraction(epsilon_at_most, "epsilon_at_most", function, requirement)
    if most <= 0:
        raise ParameterError("epsilon_at_most", function, requirement, epsilon_at_most)
    if randomize is not None and not isinstance(randomize, RandomizedResponse):
        requirement = Words(
            "left out, or a RandomizedResponse, where epsilon_at_most is given: the cost of others is not known",
            "epsilon_at_most を指定するときは、省略または RandomizedResponse（ほかの費用は分かりません）",
        )
        raise ParameterError("randomize", function, requirement, Described("something else"))
    cost = epsilon_of(task) if randomize is None else randomize.epsilon
    if cost is None:
        raise InputError(
            "This task has no randomized response, so no epsilon holds if both aggregators conspire, and your limit asks for "
            "one. Nothing was sent. Ask for a task with 'keep', or send without a limit on epsilon.",
            "このタスクにはランダム化回答がなく、両集計者が結託した場合に成り立つ epsilon がありません。"
            "何も送信していません。keep を指定したタスクを求めるか、epsilon の上限なしで送信してください。",
        )
    if cost > most:
        raise InputError(
            f"A report to this task costs an epsilon of {cautious_digits(cost, up=True)}, and your limit is {_typed(most)}. "
            "Nothing was sent. Ask for a task with a smaller 'keep', or raise your limit.",
            f"このタスクへの報告の epsilon は {cautious_digits(cost, up=True)} で、あなたの上限 {_typed(most)} を超えます。"
            "何も送信していません。keep の小さいタスクを求めるか、上限を上げてください。",
        )


def _typed(limit: Fraction) -> str:
    return cautious_digits(limit, up=False, digits=6)
