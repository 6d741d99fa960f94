"""Compilations that earlier runs of a script have made. See docs/cache.md."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from fxc.compilations.decisions import kinds_of
from fxc.ir.logs import ROOT
from fxc.ir.settings import cache_folder, config

if TYPE_CHECKING:
    from fxc.compilations.native_calls import NativeCall
    from fxc.compilations.state import Options
    from fxc.compilations.variants import Variant

    from ..cache.entries import Entries


class KeptCompilations:
    """What is kept on disk for calls of a function with arguments of some kinds."""

    def __init__(
        self,
        function: FunctionType,
        options: Options,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._function = function
        self._entries: Entries | None = None
        if cache_folder() is None or config.trace is not None:
            return
        from ..cache.codes import keep_codes_on_disk
        from ..cache.entries import Entries
        from ..cache.keys import key_of_calls, key_of_function

        try:
            keep_codes_on_disk()
            own = key_of_function(function, options)
            kinds = kinds_of(args, kwargs)
            self._entries = Entries(key_of_calls(own, kinds), kinds)
        except Exception as error:
            ROOT.info("%s: the cache is not used: %r", function.__name__, error)

    def found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant | None:
        """The compilation of an earlier run that is for this call."""
        if self._entries is None:
            return None
        try:
            return self._entries.find(self._function, args, kwargs)[0]
        except Exception as error:
            ROOT.info("%s: the cache is not used: %r", self._function.__name__, error)
            return None

    def native(self, variant: Variant) -> NativeCall | None:
        """The native function for calls of a compilation, if there can be one."""
        from fxc.compilations.behind import behind_of
        from fxc.compilations.native_texts import native_call

        if variant.watch is not None and variant.watch.copies:
            return None
        try:
            return native_call(variant, behind_of(variant))
        except Exception:  # it stays Python's: native code has no way to say all of it
            return None

    def keep(self, variant: Variant) -> None:
        """Keep a compilation for later runs."""
        if self._entries is None or variant.kept:
            return
        try:
            self._entries.add(variant, self._function)
        except Exception as error:
            ROOT.info("%s: the cache is not used: %r", self._function.__name__, error)
