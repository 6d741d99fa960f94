"""Coroutines and asynchronous generators: Python runs what waits, the rest is compiled."""

import asyncio
import contextlib
import gc
import inspect
import traceback
import weakref

import numpy as np
import pytest

import fxc
from tests.splitting import alike


async def scaled(x, n=0):
    await asyncio.sleep(0)
    return x * n


@contextlib.asynccontextmanager
async def context():
    yield 3.0


async def between(u, n):
    v = u * 2 + n
    w = np.sqrt(v * v + 1) + await scaled(v * u + 1, n) * (u * u + 2)
    for k in range(n):
        w = w * 0.5 + u * k
        await asyncio.sleep(0)
        if k == 3:
            return w * 2 + u, k
    w += sum([await scaled(w, k) for k in range(2)])
    return w * 2 + u, None


async def values(u, n):
    for k in range(n):
        v = u * k + 1
        got = yield v * v + u
        if got is not None:
            return
        u = u + await scaled(v * 2 + u, k)


async def over_values(u, n):
    total = u * 0
    async for v in values(u, n):
        total += v * v + u
    async with context() as c:
        total = total * c + u * u
    found = [x * 2 + 1 async for x in values(u, n)]
    return total * 2 + u, found


async def handling(u, n):
    try:
        v = u * n + 1
        await asyncio.sleep(0)
        w = v.reshape(n, -1) * 2 + (await scaled(v, 1)).reshape(3, -1)
    except ValueError as error:
        w = u * 2 + len(str(error))
    finally:
        u += 1.0
    return w * 2 + 1, u


async def finished(fn, *args):
    made = fn(*args)
    return [each async for each in made] if hasattr(made, "__aiter__") else await made


@pytest.mark.parametrize("program", [between, values, over_values, handling])
def test_what_stands_between_waits_is_compiled(program):
    compiled = fxc.compile(program)
    for n in (5, 5, 2, 5):
        expected, found = (
            asyncio.run(finished(fn, np.linspace(0.0, 1.0, 40), n)) for fn in (program, compiled)
        )
        alike(expected, found)
    assert compiled.cache_info().part_calls > 8


def test_coroutines_take_turns():
    compiled = fxc.compile(between)

    async def several(fn):
        return await asyncio.gather(*(fn(np.arange(3.0) + k, k) for k in range(6)))

    for _ in range(2):
        alike(asyncio.run(several(between)), asyncio.run(several(compiled)))


def test_sending_to_and_closing_asynchronous_generators():
    async def used(fn):
        made = fn(np.arange(3.0), 4)
        found = [await anext(made), await anext(made)]
        with pytest.raises(StopAsyncIteration):
            await made.asend(1)
        other = fn(np.arange(3.0), 4)
        await anext(other)
        await other.aclose()
        return found

    alike(asyncio.run(used(values)), asyncio.run(used(fxc.compile(values))))


def test_a_coroutine_is_one_and_its_errors_show_its_lines():
    async def f(u, n):
        v = u * 2 + 1
        await asyncio.sleep(0)
        return v.reshape(n, -1) * 2 + 1

    compiled = fxc.compile(f)
    for _ in range(3):
        made = compiled(np.arange(4.0), 3)
        assert inspect.iscoroutine(made)
        with pytest.raises(ValueError, match="reshape") as caught:
            asyncio.run(made)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.name, last.line) == ("f", "return v.reshape(n, -1) * 2 + 1")


def test_a_yielded_array_belongs_to_who_has_asked():
    def f(u, n):
        for k in range(n):
            yield u * k + 1

    gc.disable()
    try:
        for fn in (f, fxc.compile(f)):
            for _ in range(2):
                made = fn(np.arange(4.0), 3)
                known = weakref.ref(next(made))
                assert known() is None
                assert len([*made]) == 2
    finally:
        gc.enable()
