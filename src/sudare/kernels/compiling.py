"""How every kernel is compiled: on its first call, for one signature, without the GIL, with IEEE arithmetic as written.

A decorated function costs nothing until it is called: machine code is read from disk or made only then. What a process does
not call it never compiles. Code is made of what the package holds (`sudare.kernels.prepared`); for a kernel that has nothing
there, or something made of other sources, numba makes it, which takes ten times longer. The signature is part of the
decoration, so that arrays that are read-only or views never lead to another compilation: an argument that does not fit is an
error.

Helpers are compiled as parts of the kernels that call them, without the wrappers that make a function callable from Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from sudare.kernels.prepared.loading import load
from sudare.system.preparing import tell_preparing

__all__ = ["Compiled", "Kernel", "KernelHelper", "called", "inlined", "kernel"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No fast arithmetic: what is computed is what is written, operation by operation."""

_lock = RLock()


class Compiled:
    """A function that becomes machine code when it is needed. Its dispatcher is numba's; no other module asks for it."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.__name__, self.__qualname__, self.__module__ = (
            function.__name__,
            function.__qualname__,
            function.__module__,
        )
        self.__doc__ = function.__doc__

    @property
    def dispatcher(self) -> Any:
        """As a part of other kernels."""
        raise NotImplementedError

    @property
    def calls_itself(self) -> bool:
        """Whether it, or a helper that it calls, is recursive: numba crashes when it reads code of such functions from disk."""
        seen: dict[int, Compiled] = {}
        waiting: list[Compiled] = [self]
        while waiting:
            one = waiting.pop()
            seen[id(one)] = one
            names, known = one.function.__code__.co_names, one.function.__globals__
            called_by = [value for name in names if isinstance(value := known.get(name), Compiled)]
            if one in called_by:
                return True
            waiting += [value for value in called_by if id(value) not in seen]
        return False

    def _linked(self) -> FunctionType:
        """The function, with the dispatchers of the helpers it names: numba knows nothing else."""
        function = self.function
        names = {
            name: value.dispatcher
            for name in function.__code__.co_names
            if isinstance(value := function.__globals__.get(name), Compiled) and value is not self
        }
        linked = FunctionType(function.__code__, function.__globals__ | names, function.__name__)
        linked.__qualname__, linked.__module__ = function.__qualname__, function.__module__
        return linked

    def _jitted(self, **options: Any) -> Any:
        """The function as numba takes it; one that calls itself calls the same."""
        import numba

        linked = self._linked()
        made = numba.njit(**options)(linked)
        if self.function.__globals__.get(self.__name__) is self:
            linked.__globals__[self.__name__] = made
        return made


class KernelHelper(Compiled):
    """A function that is part of the kernels that call it."""

    def __init__(self, function: FunctionType, *, is_inlined: bool) -> None:
        super().__init__(function)
        self.is_inlined = is_inlined

    @cached_property
    def dispatcher(self) -> Any:
        """Of the function alone, compiled anew for each kernel, because a kernel's code on disk holds that of its helpers."""
        inline = "always" if self.is_inlined else "never"
        return self._jitted(**OPTIONS, no_cpython_wrapper=True, inline=inline)

    @cached_property
    def _run(self) -> Any:
        return self._jitted(nogil=True, error_model="numpy")

    def __call__(self, *arguments: Any) -> Any:
        """Compile it for these arguments and run it; for tests."""
        return self._run(*arguments)


class Kernel(Compiled):
    """A function that is compiled for one signature.

    Attributes:
        signature: types of the result and the arguments, as numba writes them.
        read_only: positions of arrays that it does not write to.
        is_ready: whether this process has its machine code.
    """

    def __init__(self, function: FunctionType, signature: str, read_only: tuple[int, ...]) -> None:
        super().__init__(function)
        self.signature, self.read_only = signature, read_only
        self.is_ready = False
        self._run: Any = self._first_run

    @cached_property
    def dispatcher(self) -> Any:
        """As a part of other kernels."""
        return self._jitted(**OPTIONS, no_cpython_wrapper=True)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        return self._run(*arguments)

    def prepare(self) -> None:
        """Read the machine code from disk, or make it."""
        with _lock:
            if not self.is_ready:
                self._run = load(self.__module__, self.__name__, self._tell) or self._made()
                self.is_ready = True

    def _first_run(self, *arguments: Any) -> Any:
        self.prepare()
        return self._run(*arguments)

    def _tell(self) -> None:
        tell_preparing(self.__name__)

    def _made(self) -> Any:
        from numba.core import event
        from numba.core.sigutils import normalize_signature

        arguments, result = normalize_signature(self.signature)
        kinds = [kind.copy(readonly=True) if i in self.read_only else kind for i, kind in enumerate(arguments)]
        made = self._jitted(**OPTIONS, cache=not self.calls_itself)
        with event.install_listener("numba:compile", _listener(made, self._tell)):
            made.compile(result(*kinds))
        made.disable_compile()
        return made


def _listener(made: Any, tell: Callable[[], None]) -> Any:
    """Tells those who want to know once numba begins to compile this function: it does so only if it finds nothing on disk."""
    from numba.core.event import Listener

    class Telling(Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"] is made:
                tell()

        def on_end(self, event: Any) -> None:
            pass

    return Telling()


def kernel(
    signature: str, read_only: tuple[int, ...] = ()
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Compile a function for one signature, once per machine.

    Args:
        signature: types of the result and the arguments, as numba writes them.
        read_only: positions of arrays that the kernel does not write to, so that protected arrays can be handed in.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        made: Any = Kernel(cast(FunctionType, function), signature, read_only)
        return made  # type: ignore[no-any-return]

    return decorate


def inlined(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Compile a helper that becomes part of the kernels that call it."""
    made: Any = KernelHelper(cast(FunctionType, function), is_inlined=True)
    return made  # type: ignore[no-any-return]


def called(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Compile a helper that stays a function of its own, for paths that are rarely taken."""
    made: Any = KernelHelper(cast(FunctionType, function), is_inlined=False)
    return made  # type: ignore[no-any-return]
