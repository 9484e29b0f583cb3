"""Runs CP-SAT in a process of its own: a task is one line of JSON on the standard input, its answer one line on the output.

It stands alone because the libraries of OR-tools and of highspy cannot be loaded into the same process (both bring a
``libhighs.so.1``, of different versions), and because a solver that takes too long can then be ended from outside.
Nothing else of the package is imported here. `sudare.attacks.tables.solver` talks to it.

Everything repeats: one worker, a fixed seed. Only a time limit can change an answer, and the answer says so.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

__all__ = ["main"]

Task = dict[str, Any]


class Program:
    """Whole-number variables within bounds and linear constraints on them, as CP-SAT takes them.

    Args:
        task: ``low`` and ``high`` for each variable; ``rows``, each with the positions of its variables, their coefficients,
            the least and the largest value, and the position of the 0-1 variable that switches it on (or None).
        seconds: how long all questions together may take.
    """

    def __init__(self, task: Task, seconds: float) -> None:
        from ortools.sat.python import cp_model

        self.library = cp_model
        self.model = cp_model.CpModel()
        self.variables = [
            self.model.new_int_var(low, high, "") for low, high in zip(task["low"], task["high"], strict=True)
        ]
        for places, coefficients, low, high, switch in task["rows"]:
            expression = cp_model.LinearExpr.weighted_sum([self.variables[place] for place in places], coefficients)
            row = self.model.add_linear_constraint(expression, low, high)
            if switch is not None:
                row.only_enforce_if(self.variables[switch])
        self.deadline = time.monotonic() + seconds

    def solver(self) -> Any:
        """A solver whose answers repeat, with the time that is left."""
        solver = self.library.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_time_in_seconds = max(0.01, self.deadline - time.monotonic())
        return solver

    def solve(self, model: Any) -> tuple[bool | None, list[int]]:
        """Whether there is a solution (None: no time to tell), and one."""
        solver = self.solver()
        status = solver.solve(model)
        if status in (self.library.OPTIMAL, self.library.FEASIBLE):
            return True, [int(value) for value in solver.response_proto.solution]
        return (False if status == self.library.INFEASIBLE else None), []


def enumerate_solutions(task: Task) -> Task:
    """Every solution, up to a limit; of each, the first ``shown`` variables."""
    program = Program(task, task["seconds"])
    shown, limit = program.variables[: task["shown"]], task["limit"]

    class Collector(program.library.CpSolverSolutionCallback):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.found: list[list[int]] = []

        def on_solution_callback(self) -> None:
            self.found.append([self.value(variable) for variable in shown])
            if len(self.found) >= limit:
                self.stop_search()

    collector = Collector()
    solver = program.solver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.cp_model_probing_level = 0  # costs more than it saves where the tables leave little open
    status = solver.solve(program.model, collector)
    # Searching is over only if the limit did not end it: then the status is OPTIMAL (all were found) or INFEASIBLE (none is).
    ended = status in (program.library.OPTIMAL, program.library.INFEASIBLE) and len(collector.found) < limit
    return {"solutions": collector.found, "is_complete": ended}


def find_ranges(task: Task) -> Task:
    """The least value of each of the first ``shown`` variables over all solutions, and whether it ever has another one.

    A pool of solutions bounds them from inside. Then, again and again, a solution that goes below the least value of some
    variable is asked for; when there is none, these values are exact. Then the same for solutions in which a variable that
    was always the same is larger. Every question settles at least one variable a step further.
    """
    program = Program(task, task["seconds"])
    exists, solution = program.solve(program.model)
    if not exists:
        return {"exists": exists, "least": [], "largest": [], "is_complete": exists is False}
    shown = task["shown"]
    least, largest = list(solution[:shown]), list(solution[:shown])
    complete = all(_widen(program, task, least, largest, solution, sign) for sign in (-1, 1))
    return {"exists": True, "least": least, "largest": largest, "is_complete": complete}


def _widen(program: Program, task: Task, least: list[int], largest: list[int], start: list[int], sign: int) -> bool:
    """Widen the ranges downwards (-1), or upwards where they are single values (1); False if time ran out."""
    shown, hint = len(least), start
    while True:
        if sign < 0:
            open_places = [place for place in range(shown) if least[place] > task["low"][place]]
        else:
            open_places = [place for place in range(shown) if least[place] == largest[place] < task["high"][place]]
        if not open_places:
            return True
        if time.monotonic() >= program.deadline:
            return False
        model: Any = program.model.clone()
        leaves = []
        for place in open_places:
            flag = model.new_bool_var("")
            variable = model.get_int_var_from_proto_index(place)
            if sign < 0:
                model.add(variable <= least[place] - 1).only_enforce_if(flag)
            else:
                model.add(variable >= largest[place] + 1).only_enforce_if(flag)
            leaves.append(flag)
        model.add_bool_or(leaves)
        model.clear_hints()
        for place, value in enumerate(hint):
            model.add_hint(model.get_int_var_from_proto_index(place), value)
        # Many places at once save questions. The best choice is not needed: a good one in a short time is.
        model.maximize(sum(leaves))
        solver = program.solver()
        solver.parameters.max_deterministic_time = task["effort"]
        status = solver.solve(model)
        if status == program.library.UNKNOWN and time.monotonic() < program.deadline:
            model.clear_objective()
            solver = program.solver()
            status = solver.solve(model)
        if status == program.library.INFEASIBLE:
            return True
        if status not in (program.library.OPTIMAL, program.library.FEASIBLE):
            return False
        hint = [int(value) for value in solver.response_proto.solution][: len(start)]
        for place in range(shown):
            least[place] = min(least[place], hint[place])
            largest[place] = max(largest[place], hint[place])


def optimize_each(task: Task) -> Task:
    """For each of the ``places`` its least and its largest value, each with whether it is attained; else it is a bound."""
    program = Program(task, task["seconds"])
    model: Any = program.model
    ends: list[list[tuple[int, bool]]] = []
    for place in task["places"]:
        pair: list[tuple[int, bool]] = []
        for sense, bound in ((model.minimize, task["low"][place]), (model.maximize, task["high"][place])):
            sense(program.variables[place])
            solver = program.solver()
            status = solver.solve(model)
            if status == program.library.INFEASIBLE:
                return {"exists": False, "ends": []}
            known = status in (program.library.OPTIMAL, program.library.FEASIBLE)
            pair.append((round(solver.best_objective_bound) if known else bound, status == program.library.OPTIMAL))
        ends.append(pair)
    return {"exists": True, "ends": ends}


TASKS = {"enumerate": enumerate_solutions, "ranges": find_ranges, "optimize": optimize_each}


def main() -> None:
    """Answer tasks until the input ends."""
    for line in sys.stdin:
        task = json.loads(line)
        try:
            answer = TASKS[task["task"]](task)
        except Exception as mistake:  # reported to the caller, who raises it there
            answer = {"mistake": f"{type(mistake).__name__}: {mistake}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
