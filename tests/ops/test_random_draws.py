"""Draws from random generators: NumPy's stream, and the generators left as NumPy leaves them."""

from __future__ import annotations

import inspect
import random
import sys
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.outside.generators import _NO_DRAWS
from fxc.runtime.generators import _by_state, _is_plain, checkpoint
from tests.compiling import Make, check
from tests.outcomes import difference, run


def state(x: Any) -> str:
    """The state of a random generator, as a text."""
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    if isinstance(x, np.random.RandomState):
        return repr(x.get_state(legacy=False))
    return repr(x.getstate())


def seeded(*rest: Any, kind: Any = np.random.default_rng) -> Make:
    """Arguments: a generator, then copies of the others."""
    return lambda: (kind(11), *(x.copy() if isinstance(x, np.ndarray) else x for x in rest))


# ---------------------------------------------------------------- every method

_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "beta": (2.0, 3.0), "binomial": (9, 0.25), "chisquare": (3.0,), "choice": (7,),
    "dirichlet": (np.array([1.0, 2.0, 3.0]),), "f": (2.0, 5.0), "gamma": (2.0, 1.5),
    "geometric": (0.25,), "hypergeometric": (4, 5, 3), "integers": (3, 40), "logseries": (0.5,),
    "multinomial": (9, np.array([0.25, 0.75])), "multivariate_hypergeometric": (np.array([3, 4]), 2),
    "multivariate_normal": (np.zeros(2), np.eye(2)), "negative_binomial": (4, 0.5),
    "noncentral_chisquare": (3.0, 1.0), "noncentral_f": (3.0, 4.0, 1.0), "pareto": (3.0,),
    "permutation": (np.arange(5.0),), "permuted": (np.arange(5.0),), "power": (3.0,),
    "randint": (3, 40), "shuffle": (np.arange(5.0),), "standard_gamma": (2.0,),
    "standard_t": (4.0,), "triangular": (0.0, 1.0, 3.0), "vonmises": (0.0, 4.0), "wald": (2.0, 3.0),
    "weibull": (2.0,), "zipf": (3.0,), "rand": (2, 3), "randn": (4,), "seed": (5,),
}  # fmt: skip
_OF_PYTHON: dict[str, tuple[Any, ...]] = {
    "betavariate": (2.0, 3.0), "choice": ((1.5, 2.5, 4.0),), "expovariate": (2.0,),
    "gammavariate": (2.0, 1.5), "gauss": (1.0, 2.0), "getrandbits": (12,),
    "lognormvariate": (0.0, 1.0), "normalvariate": (1.0, 2.0), "paretovariate": (2.0,),
    "randint": (1, 6), "random": (), "randrange": (3, 90, 2), "seed": (4,),
    "triangular": (0.0, 2.0, 1.0), "uniform": (1.0, 3.0), "vonmisesvariate": (0.0, 4.0),
    "weibullvariate": (1.0, 1.5),
}  # fmt: skip


def methods_of(kind: type) -> list[str]:
    """All that a class of NumPy's draws by."""
    names = [name for name in vars(kind) if not name.startswith("_") and name not in _NO_DRAWS]
    return sorted(name for name in names if callable(getattr(kind, name)))


@pytest.mark.parametrize("name", methods_of(np.random.Generator))
def test_every_method_of_a_generator(name: str) -> None:
    every_method(np.random.default_rng, name)


@pytest.mark.parametrize("name", methods_of(np.random.RandomState))
def test_every_method_of_a_random_state(name: str) -> None:
    every_method(np.random.RandomState, name)


def every_method(kind: Any, name: str) -> None:
    given = _ARGUMENTS.get(name, ())

    def one(g: Any, *xs: Any) -> Any:
        return getattr(g, name)(*xs), getattr(g, name)(*xs)

    check(one, seeded(*given, kind=kind), times=3, lasting=True)
    if "size" not in inspect.signature(getattr(kind(1), name)).parameters:
        return

    def several(g: Any, *xs: Any) -> Any:
        return getattr(g, name)(*xs, size=(2, 3)), getattr(g, name)(*xs, size=4)

    check(several, seeded(*given, kind=kind), times=3, lasting=True)
    if given and all(type(x) in (int, float) for x in given) and name != "choice":
        check(one, seeded(*(np.array([x, x]) for x in given), kind=kind), times=3, lasting=True)


@pytest.mark.parametrize("name", _OF_PYTHON)
def test_every_method_of_pythons_generators(name: str) -> None:
    def draw(g: Any, *xs: Any) -> Any:
        return getattr(g, name)(*xs), getattr(g, name)(*xs)

    given = _OF_PYTHON[name]

    def constant(g: Any) -> Any:
        return getattr(g, name)(*given), getattr(g, name)(*given)

    check(constant, seeded(kind=random.Random), times=3, lasting=True)
    if all(type(x) in (int, float) for x in given):
        check(draw, seeded(*given, kind=random.Random), times=3, lasting=True)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("dtype", ["U3", "S2", "M8[D]", "i4,f8"])
def test_draws_of_elements_that_are_no_numbers(kind: Any, dtype: str) -> None:
    items = (
        np.array([(k, k) for k in range(9)], dtype) if "," in dtype else np.arange(9).astype(dtype)
    )

    def draw(g: Any, x: Any) -> Any:
        g.shuffle(x[::2])
        found = g.choice(x, 4), g.choice(x, (2, 2)), g.choice(x, 3, replace=False)
        return *found, g.choice(x, 2, p=np.full(9, 1 / 9)), g.permutation(x), g.random(), x

    check(draw, seeded(items, kind=kind), times=3, lasting=True)


def test_a_loop_that_draws_texts() -> None:
    def game(g: Any, n: Any) -> Any:
        wins = 0
        for _ in range(n):
            car, first = g.integers(3), g.integers(3)
            if g.choice(["stay", "switch"]) == "switch":
                wins += car != first
            else:
                wins += car == first
        return wins, g.choice(["red", "blue"], p=[0.25, 0.75])

    check(game, seeded(40), times=3, lasting=True)


def test_options() -> None:
    def draw(g: Any, x: Any, n: Any) -> Any:
        return (
            g.integers(0, 9, size=n, dtype=np.uint8, endpoint=True),
            g.random(n, dtype=np.float32),
            g.standard_exponential(n, method="inv"),
            g.choice(x, size=(n, 2), replace=False, p=x / x.sum(), shuffle=False),
            g.permuted(x.reshape(2, 4), axis=1),
            g.choice(x.reshape(2, 4), axis=1),
            g.normal(loc=x, size=(3, x.size)),
            g.multivariate_normal(np.zeros(2), np.eye(2), size=2, method="cholesky"),
            g.normal(size=()),
        )

    compiled = check(draw, seeded(np.arange(1.0, 9.0), 3), times=3, lasting=True)
    assert compiled.cache_info().variants <= 2


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_numbers_below_a_size_that_varies_with_their_probabilities(kind: Any) -> None:
    def draw(g: Any, x: Any) -> Any:
        p = x / x.sum()
        return g.choice(len(x), p=p), g.choice(len(x), 3, False, p)

    calls = (seeded(np.arange(1.0, last), kind=kind) for last in (7.0, 9.0, 101.0))
    compiled = check(draw, *calls)
    assert compiled.cache_info().variants == 2


def test_orders_of_arrays() -> None:
    def draw(g: Any, x: Any) -> Any:
        g.shuffle(x)
        g.shuffle(x, axis=1)
        x[0] = g.choice(x.copy(), axis=0)
        return g.normal(x), g.permutation(x.copy(order="C")), g.choice(x.copy(order="C"), 3)

    for x in (np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3).T):
        check(
            draw, lambda x=x: (np.random.default_rng(3), x.copy(order="K")), times=3, lasting=True
        )
    y = np.arange(12.0).reshape(3, 4)
    for fn in (lambda g: g.permutation(y, axis=1), lambda g: g.choice(y, 2, axis=1)):
        with pytest.raises(fxc.CaptureError, match="along another axis"):
            fxc.compile(fn, fullgraph=True)(np.random.default_rng(3))


def test_draws_into_arrays() -> None:
    def draw(g: Any, x: Any) -> Any:
        found = g.random(out=x)
        g.standard_normal(out=x[4:])
        g.shuffle(x[1:])
        g.shuffle(x.reshape(2, 4))
        return found is x

    check(draw, seeded(np.zeros(8)), times=3, lasting=True)


# ---------------------------------------------------------------- statements


def test_loops_and_branches() -> None:
    def walk(g: Any, x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            step = g.normal()
            if step > 0:
                x[i % x.size] += g.random()
            elif g.integers(3) == 1:
                g.shuffle(x)
            total += step
            if total > 9:
                break
        while g.random() < 0.9:
            x += g.uniform(-1.0, 1.0, x.size)
        return total

    check(walk, seeded(np.arange(6.0), 50), times=3, lasting=True)


def test_the_test_of_a_loop_is_not_run_behind_what_always_ends_it() -> None:
    def draw(g: Any, x: Any, n: Any, ends: Any) -> Any:
        while n > 0 and g.random() < 0.7:
            x += g.normal()
            if ends:
                break
        while g.random() < 0.7:
            x *= 2.0
            return g.random()
        return g.normal()

    check(draw, seeded(np.arange(6.0), 5, True), times=3, lasting=True)


def test_unread_draws_are_made() -> None:
    def draw(g: Any, x: Any) -> Any:
        g.normal()
        for _ in range(20):
            g.random()
        return x + 1

    check(draw, seeded(np.arange(3.0)), times=3, lasting=True)


def test_draws_of_one_kind_differ() -> None:
    def draw(g: Any, x: Any) -> Any:
        return g.random(3) - g.random(3), [g.normal() for _ in range(9)]

    check(draw, seeded(np.arange(3.0)), times=3, lasting=True)


def test_two_generators() -> None:
    def draw(g: Any, h: Any, x: Any) -> Any:
        for i in range(10):
            x[i] = g.random() + h.normal()
        return x

    check(
        draw,
        lambda: (np.random.default_rng(1), np.random.RandomState(2), np.zeros(10)),
        times=3,
        lasting=True,
    )
    compiled = fxc.compile(draw, fullgraph=True)
    compiled(np.random.default_rng(1), np.random.default_rng(2), np.zeros(10))
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    expected = draw(one, one, np.zeros(10))
    assert compiled(other, other, np.zeros(10)).tobytes() == expected.tobytes()
    assert state(one) == state(other)


def test_generators_of_one_bit_generator_are_not_captured() -> None:
    bits = np.random.PCG64(3)
    fn = lambda g, h: g.random() - h.random()  # noqa: E731
    with pytest.raises(fxc.CaptureError, match="share a bit generator"):
        fxc.compile(fn, fullgraph=True)(np.random.Generator(bits), np.random.Generator(bits))
    compiled = fxc.compile(fn)
    compiled(np.random.default_rng(1), np.random.default_rng(2))
    with pytest.warns(fxc.CaptureWarning, match="share a bit generator"):
        compiled(np.random.Generator(bits), np.random.Generator(bits))
    assert bits.state == _after_two(np.random.PCG64(3)).state


def _after_two(bits: Any) -> Any:
    np.random.Generator(bits).random(2)
    return bits


def test_global_functions() -> None:
    def draw(x: Any) -> Any:
        for i in range(x.size):
            x[i] += np.random.normal() * random.gauss(0.0, 1.0) + random.randint(1, 6)
        return np.random.rand(3), np.random.randint(9), random.random(), random.choice([1.0, 4.0])

    def begin() -> tuple[Any, ...]:
        np.random.seed(3)
        random.seed(4)
        return (np.arange(4.0),)

    compiled = fxc.compile(draw, fullgraph=True)
    for _ in range(3):
        expected = run(draw, begin())
        states = state(np.random.mtrand._rand), random.getstate()
        found = run(compiled, begin())
        assert not difference(expected, found)
        assert states == (state(np.random.mtrand._rand), random.getstate())


def test_sequences() -> None:
    def draw(r: Any, x: Any) -> Any:
        y = [1.0, 2.0, 3.0, 4.0]
        r.shuffle(y)
        r.shuffle(x)
        for i in range(20):
            x[i % 5] += r.choice([1.5, 2.5, 4.0]) + r.choice(y)
        return y, r.sample(range(10), 3), r.choices([1, 2, 3], k=5), r.sample([1.0, 2.0], 2)

    check(draw, seeded(np.arange(5.0), kind=random.Random), times=3, lasting=True)


def test_seeds_inside() -> None:
    def draw(n: Any, x: Any) -> Any:
        np.random.seed(n)
        random.seed(3)
        return x + np.random.random(x.size), random.random()

    compiled = fxc.compile(draw, fullgraph=True)
    for seed in (1, 2, 2):
        assert not difference(run(draw, (seed, np.zeros(3))), run(compiled, (seed, np.zeros(3))))


def test_seeds_by_name() -> None:
    def draw(n: Any, x: Any) -> Any:
        np.random.seed(seed=n)
        random.seed(a=3)
        return x + np.random.random(x.size), random.random()

    def by_first_version(x: Any) -> Any:
        random.seed(5, version=1)
        return x + random.random()

    compiled = fxc.compile(draw, fullgraph=True)
    assert not difference(run(draw, (7, np.zeros(3))), run(compiled, (7, np.zeros(3))))
    with pytest.raises(fxc.CaptureError, match="a random seed with other arguments"):
        fxc.compile(by_first_version, fullgraph=True)(np.zeros(2))


def test_generators_made_inside() -> None:
    def draw(n: Any, x: Any) -> Any:
        g, h, r = np.random.default_rng(n), np.random.RandomState(n), random.Random(n)
        total = 0.0
        for i in range(x.size):
            x[i] = g.normal() + h.rand() + r.random()
            if x[i] > 0:
                total += np.random.default_rng(i).random()
        return total, np.random.default_rng(g).random()

    compiled = fxc.compile(draw, fullgraph=True)
    for seed in (1, 2, 2):
        assert not difference(run(draw, (seed, np.zeros(9))), run(compiled, (seed, np.zeros(9))))
    assert compiled.cache_info().eager_calls == 0


class Simulation:
    """An object with a generator of its own."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)
        self.x = np.zeros(8)

    def step(self) -> Any:
        noise = self.draw
        self.x += noise(self.x.size)
        return self.x.sum()

    def draw(self, n: Any) -> Any:
        return self.rng.normal(0.0, 0.5, n)


def test_generators_made_inside_leave() -> None:
    class Model:
        pass

    def make(seed: int, draws: int) -> Any:
        model: Any = Model()
        model.rng = np.random.default_rng(seed)
        model.start = model.rng.normal(size=draws)
        others = [np.random.RandomState(seed + each) for each in range(6)]
        return model, others, others[2], others[2].rand(), random.Random(seed)

    compiled = fxc.compile(make, fullgraph=True)
    for seed in range(3):
        told = []
        for model, others, one, *rest, pythons in (compiled(seed, 3), make(seed, 3)):
            assert one is others[2]
            states = [state(model.rng), *map(state, others), pythons.getstate()]
            told.append((states, rest, model.start.tolist()))
        assert told[0] == told[1]


def test_generators_stored_in_attributes() -> None:
    class Model:
        rng: Any

        def __init__(self, seed: Any) -> None:
            self.rng = np.random.default_rng(seed)
            self.first = self.rng.random()

    class Compiled(Model):
        __init__ = fxc.compile(Model.__init__, fullgraph=True)  # type: ignore[assignment]

    for seed in range(4):
        want, got = Model(seed), Compiled(seed)
        assert (want.first, state(want.rng)) == (got.first, state(got.rng))
    assert state(Compiled(None).rng) != state(Compiled(None).rng)


def test_generators_of_objects() -> None:
    one, other = Simulation(), Simulation()
    step = fxc.compile(Simulation.step, fullgraph=True)
    for _ in range(4):
        assert one.step() == step(other)
        assert state(one.rng) == state(other.rng)
    other.rng = np.random.default_rng(9)
    one.rng = np.random.default_rng(9)
    assert one.step() == step(other)
    assert step.cache_info().variants == 1


# ---------------------------------------------------------------- exceptions


def test_draws_before_an_exception_are_made_once() -> None:
    def draw(g: Any, x: Any, i: Any) -> Any:
        x[0] = g.normal()
        for k in range(4):
            x[k] += g.random()
        return x[i]

    for kind in (np.random.default_rng, np.random.RandomState):
        check(draw, seeded(np.arange(5.0), np.int64(2), kind=kind), times=3, lasting=True)
        compiled = fxc.compile(draw, fullgraph=True)
        compiled(kind(1), np.arange(5.0), np.array([2])[0])
        one, other = kind(2), kind(2)
        left, right = np.arange(5.0), np.arange(5.0)
        for _ in range(3):
            for fn, g, x in ((draw, one, left), (compiled, other, right)):
                with pytest.raises(IndexError):
                    fn(g, x, np.array([7])[0])
            assert state(one) == state(other)
            assert left.tobytes() == right.tobytes()


def test_what_numpy_refuses() -> None:
    def draw(g: Any, scale: Any, x: Any) -> Any:
        x += g.random(3)
        x *= g.normal(0.0, scale)
        return x

    compiled = fxc.compile(draw, fullgraph=True)
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    left, right = np.arange(3.0), np.arange(3.0)
    for scale in (2.0, -1.0, 3.0, -1.0):
        expected, found = run(draw, (one, scale, left)), run(compiled, (other, scale, right))
        assert not difference(expected, found)
        assert state(one) == state(other)
        assert left.tobytes() == right.tobytes()


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_states_are_brought_back(bits: str) -> None:
    kind = getattr(np.random, bits)
    assert _is_plain(kind)
    for made in (np.random.Generator(kind(3)), np.random.RandomState(kind(3))):
        made.standard_normal(5)
        before = state(made)
        for keep in (checkpoint, _by_state):
            restore = keep(made)
            first = made.standard_normal(701).tobytes()
            made.integers(9, dtype=np.uint8) if hasattr(made, "integers") else None
            restore()
            assert state(made) == before
            assert made.standard_normal(701).tobytes() == first
            restore()


def test_what_a_new_seed_drops_is_brought_back_and_kept() -> None:
    made = np.random.RandomState(np.random.MT19937(3))
    sequence = made._bit_generator._seed_seq  # type: ignore[attr-defined]
    before = sys.getrefcount(sequence)
    restore = checkpoint(made)
    for _ in range(3):
        made.seed(42)
        assert made._bit_generator._seed_seq is None  # type: ignore[attr-defined]
        restore()
        assert made._bit_generator._seed_seq is sequence  # type: ignore[attr-defined]
    del restore
    assert sys.getrefcount(sequence) == before


def test_states_of_pythons_generators_are_brought_back() -> None:
    made = random.Random(3)
    made.gauss(0.0, 1.0)
    before = made.getstate()
    restore = checkpoint(made)
    made.gauss(0.0, 1.0)
    restore()
    assert made.getstate() == before


def test_many_calls() -> None:
    def draw(g: Any, n: Any) -> Any:
        return g.random() + np.random.RandomState(n).rand()

    compiled = fxc.compile(draw, fullgraph=True)
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    assert [draw(one, 3) for _ in range(2200)] == [compiled(other, 3) for _ in range(2200)]
    assert compiled.cache_info().eager_calls == 0


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "fn",
    [
        lambda g: g.bytes(3),
        lambda g: g.bit_generator.state,
        lambda g: g.spawn(2),
        lambda g: g.shuffle([1, 2, 3]),
        lambda g: g.choice(["a", "b"], size=()),
        lambda g: g.normal(np.complex128(1j)),
    ],
)
def test_other_methods_are_refused_before_anything_happens(fn: Any) -> None:
    g = np.random.default_rng(3)
    before = state(g)
    with pytest.raises(fxc.CaptureError):
        fxc.compile(fn, fullgraph=True)(g)
    assert state(g) == before
