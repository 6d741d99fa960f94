"""``fxc.custom_op``: operators of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, overload

from fxc.ir.error_kinds import CUSTOM_OPERATOR
from fxc.ir.errors import ParseError, UsageError, UsageTypeError, a_kind
from fxc.ir.forking import table_lock
from fxc.ir.graph import Literal, Value
from fxc.ir.schema import Schema, parse_schema
from fxc.ops.custom import Definition, Lowering, changed, define, definition_of, forget
from fxc.ops.operators import Row, Tag
from fxc.ops.table import TABLE

from .bind import bind
from .custom_decompositions import KINDS, check_cycles, composites_for, mentioned, traced_types
from .default import default_dispatcher
from .dispatcher import Registration
from .keys import DispatchKey, above, thread_keys, with_keys

_lock = table_lock()
Function = Callable[..., Any]


@overload
def custom_op(
    schema: str,
    /,
    *,
    meta: Function | None = None,
    lowering: Function | None = None,
) -> Callable[[Function], CustomOp]: ...
@overload
def custom_op(
    schema: str,
    impl: Function | None = None,
    /,
    *,
    meta: Function | None = None,
    decomposition: Function | None = None,
    kind: str | None = None,
    lowering: Function | None = None,
) -> CustomOp: ...
def custom_op(
    schema: str,
    impl: Function | None = None,
    /,
    *,
    meta: Function | None = None,
    decomposition: Function | None = None,
    kind: str | None = None,
    lowering: Function | None = None,
) -> Any:
    """Register an operator ``namespace::name``: a decorator, or with a function an operator.

    There are so many lines because all is said here.

    ``schema`` says what it takes and gives: ``"mylib::blur(Array x, float width) -> Array"``.
    ``Array(a!)`` is written, and the name ends in ``_`` then; a result ``Array(a)`` is a view of
    the first parameter, ``Array(a)``. See docs/extending.md for all that stands there.

    ``impl``: the function on arrays. It gives what the schema says, and has no other effect.
    ``meta``: from types of arguments (``.dtype``, ``.shape``, ``.strides``) to those of results,
    ``x.new(shape, dtype)`` or ``x.scalar(dtype)``. Without one types are learnt from samples.
    ``decomposition``: the operator in terms of others, ``f(ops, *args)``, of the kind "implicit"
    (the operator is never seen in graphs), "explicit" or "non_functional" (with views and writes):
    see ``register_decomposition``.
    ``lowering``: native code, ``build(context, node)``.
    A derivative has its slot, too: see ``register_derivative``.

    Raises ``ParseError`` for a schema that is not well formed, ``ValueError`` for a name that is
    taken, a cycle of decompositions or what cannot be an operator, and ``TypeError`` for a function
    that does not take the schema's parameters.

    >>> import numpy as np, fxc
    >>> @fxc.custom_op("doc::clamp_(Array(a!) x, float high) -> ()")
    ... def clamp_(x, high):
    ...     np.minimum(x, high, out=x)
    >>> x = np.array([1.0, 5.0, 9.0])
    >>> fxc.compile(lambda x: clamp_(x[1:], 4.0), fullgraph=True)(x)
    >>> x
    array([1., 4., 4.])
    >>> clamp_.remove()
    """
    parsed = _checked(parse_schema(schema))

    def made(function: Function | None) -> CustomOp:
        op = CustomOp(parsed, function)
        try:
            if meta is not None:
                op.register_meta(meta)
            if lowering is not None:
                op.register_lowering(lowering)
            if decomposition is not None:
                op.register_decomposition(decomposition, kind=kind)
        except BaseException:
            op.remove()
            raise
        return op

    return made if impl is None and decomposition is None else made(impl)


def _checked(schema: Schema) -> Schema:
    """The schema; raises for one that no operator of a user's can have."""
    name, params, returns = schema.name, schema.params, schema.returns
    if "::" not in name or "." in name:
        raise ParseError(f"{name}: the name of a custom operator is namespace::name")
    for param in params:
        if param.kind in ("Slice", "Constant", "Region"):
            raise ParseError(f"{name}: no custom operator takes a {param.kind}")
        if param.alias is not None and (param.is_list or param.optional):
            raise ParseError(f"{name}: {param.name} can be no list and not optional with an alias")
    if any(each.is_list for each in returns):
        raise ParseError(f"{name}: give each result a place of its own, not a list of them")
    if not any(param.is_value for param in params):
        raise ParseError(f"{name}: a custom operator takes an array or a number")
    aliases = [each.alias for each in returns if each.alias is not None]
    if aliases:
        first = params[0].alias
        is_view = len(returns) == 1 and first is not None and first.letter == aliases[0].letter
        if schema.writes or not is_view or sum(p.alias is not None for p in params) > 1:
            raise ParseError(
                f"{name}: a result that shares memory must be the only one, a view of the first "
                "parameter, and nothing may be written"
            )
    elif any(param.alias is not None and not param.is_written for param in params):
        raise ParseError(f"{name}: an alias that is neither written nor a result's means nothing")
    if not schema.writes and not returns:
        raise ParseError(f"{name}: it neither gives nor writes anything")
    return schema


class CustomOp:
    """An operator of the user's own; see ``fxc.custom_op``. It is called like a function.

    ``remove()`` takes it away; the ``register_`` methods give handles whose ``remove()`` undoes
    them. What has been compiled with it is not used after any of these.
    """

    __fxc_operator__ = True  # by which it is known where this module need not be imported

    def __init__(self, schema: Schema, impl: Function | None) -> None:
        count = len(schema.params)
        if impl is not None:
            _check_parameters(impl, count, f"the impl of {schema.name}")
        self.schema = schema
        self.__name__ = schema.name
        self.__doc__ = getattr(impl, "__doc__", None) or str(schema)
        self.__wrapped__ = impl
        self._count = count
        self._binds = any(param.is_list or param.kind == "DType" for param in schema.params)
        self._impl: Function = self._composed if impl is None else impl
        self._definition = Definition(schema, self._impl, impl is not None, self)
        self._parts: list[Registration] = []
        with _lock:
            try:
                self._op = TABLE.add(Row(str(schema), Tag.CUSTOM, None, True))
            except ValueError as error:
                raise UsageError(
                    CUSTOM_OPERATOR, f"{error}: take another name, or remove it first"
                ) from None
            define(self._definition)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What the operator gives for arrays; a node where operators are recorded.

        Raises ``TypeError`` for arguments that do not fit the schema.
        """
        if kwargs or len(args) != self._count or self._binds:
            args = bind(self._op, args, kwargs)
        if thread_keys.include and any(map(_is_of_graph, args)):
            return default_dispatcher().call(self.schema.name, *args)
        return self._impl(*args)

    def __repr__(self) -> str:
        return f"<fxc.custom_op {self.schema}>"

    def __reduce__(self) -> tuple[Callable[[str], CustomOp], tuple[str]]:
        return _found, (self.schema.name,)

    def _composed(self, *args: object) -> object:
        """What the decomposition gives for arrays."""
        dispatcher = default_dispatcher()
        with with_keys(0, above(DispatchKey.CPU)):
            for _, function in dispatcher.composites_of(self.schema.name, DispatchKey.CPU):
                found = function(dispatcher.ops, *args)
                if found is not NotImplemented:
                    return found
        raise UsageTypeError(
            CUSTOM_OPERATOR,
            f"{self.schema.name} has no impl, and no decomposition for these arguments",
        )

    # -- registration

    def register_meta(self, meta: Function, /) -> Registration:
        """Let ``meta(*types)`` say of which types the results are.

        It is given an ``ArrayType`` or ``ScalarType`` in place of each operand, other arguments as
        they are (a ``Sym`` may be a symbol), and gives a type for each result. Dims may be symbols:
        it may compute with them and compare them.
        """
        _check_parameters(meta, self._count, f"the meta of {self.schema.name}")
        return self._set("meta", meta)

    def register_lowering(
        self,
        build: Function,
        /,
        *,
        covers: Callable[..., bool] = lambda node: True,
        checks: bool = False,
    ) -> Registration:
        """Let ``build(context, node)`` make loop nests for the nodes that ``covers(node)`` says.

        ``checks`` says that they look for what the operator raises for. Where the operator writes,
        the node's results are what it writes, then its own. See docs/extending.md.

        Raises ``ValueError`` for an operator that gives a view.
        """
        if self.schema.is_view:
            raise UsageError(
                CUSTOM_OPERATOR,
                f"{self.schema.name} gives a view, of which there is no native code",
            )
        _check_parameters(build, 2, f"the lowering of {self.schema.name}")
        return self._set("lowering", Lowering(build, covers, checks))

    def register_derivative(self, derivative: Function, /) -> Registration:
        """Keep a function for what will take derivatives; nothing uses it yet."""
        return self._set("derivative", derivative)

    def register_decomposition(
        self, function: Function, /, *, kind: str | None = None
    ) -> Registration:
        """Let ``function(ops, *args)`` say what the operator is in terms of others.

        It calls ``ops.add(x, y)``, ``ops.call("mylib::blur", x, 2.0)``, and asks
        ``ops.type_of(x)``; it returns ``NotImplemented`` for arguments that it does not serve. The
        ``kind`` is "implicit": the operator is not seen in graphs; "explicit": backends that have
        no kernel of it take it, and it uses neither views nor writes; "non_functional": the same
        with views and writes, which backends that want none get without them. That is the default
        where the operator writes or gives a view, else "explicit".

        Raises ``ValueError`` for a cycle of decompositions, or if there is one of this kind.
        """
        schema, kinds = self.schema, KINDS
        kind = kind or ("explicit" if schema.is_functional else "non_functional")
        if kind not in kinds or (kind == "explicit" and not schema.is_functional):
            allowed = tuple(each for each in kinds if schema.is_functional or each != "explicit")
            raise UsageError(
                CUSTOM_OPERATOR, f"the kind of a decomposition is one of {allowed}, not {kind!r}"
            )
        _check_parameters(function, self._count + 1, f"a decomposition of {schema.name}")
        definition, dispatcher = self._definition, default_dispatcher()
        with _lock:
            calls = check_cycles(schema.name, mentioned(function))
            made: list[Registration] = []
            try:
                for name, alias, composite in composites_for(definition, function, kinds[kind]):
                    made.append(dispatcher.impl_composite(name, alias, composite))
            except ValueError:
                _remove_all(made)
                text = f"{schema.name} has a decomposition of the kind {kind} already"
                raise UsageError(CUSTOM_OPERATOR, text) from None
            types = traced_types(dispatcher, schema, function)
            definition.traced.append(types)
            definition.calls.append(calls)

        def undo() -> None:
            definition.traced.remove(types)
            definition.calls.remove(calls)
            _remove_all(made)

        return self._registered(undo)

    def remove(self) -> None:
        """Take the operator away, with all that is registered of it; a second call does nothing."""
        with _lock:
            parts, self._parts = self._parts, []
            _remove_all(parts)
            try:
                mine = definition_of(self.schema.name) is self._definition
            except KeyError:
                return
            if mine:
                TABLE.remove(self.schema.name)
                forget(self._definition)

    def _set(self, part: str, value: object) -> Registration:
        definition = self._definition
        with _lock:
            if getattr(definition, part) is not None:
                raise UsageError(
                    CUSTOM_OPERATOR, f"{self.schema.name} has a {part} already; remove that first"
                )
            setattr(definition, part, value)
        return self._registered(lambda: setattr(definition, part, None))

    def _registered(self, undo: Callable[[], None]) -> Registration:
        definition = self._definition

        def locked() -> None:
            with _lock:
                undo()
                definition.renew()
            changed(definition)

        made = Registration(locked)
        definition.renew()
        changed(definition)
        self._parts.append(made)
        return made


def _is_of_graph(x: object) -> bool:
    """Whether an argument is what decompositions are given in place of an array or a number."""
    if isinstance(x, tuple):
        return any(map(_is_of_graph, x))
    return isinstance(x, Value | Literal) or hasattr(x, "dispatch_key")


def _remove_all(parts: list[Registration]) -> None:
    for part in reversed(parts):
        part.remove()


def _found(name: str) -> CustomOp:
    """The operator of that name, in another process: what has registered it has to be imported."""
    try:
        owner: CustomOp = definition_of(name).owner
    except KeyError:
        raise LookupError(f"the custom operator {name!r} is not registered here") from None
    return owner


def _check_parameters(function: object, count: int, what: str) -> None:
    """Raise ``TypeError`` for a function that does not take so many arguments by position."""
    if not callable(function):
        raise UsageTypeError(CUSTOM_OPERATOR, f"{what} must be a function, not {a_kind(function)}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many functions of C have none
        return
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise UsageTypeError(
            CUSTOM_OPERATOR,
            f"{what} is called with {count} arguments by position, and {function!r} does not take "
            f"them: {error}",
        ) from None
