"""Compiled functions in the workers of Dask and joblib, over data larger than one chunk.

The workers are processes of their own. They are to compile nothing: Note [Stored compilations].
"""

from collections.abc import Iterator
from typing import Any

import dask
import dask.array
import joblib
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

import fxc
from fxc.calling.compiling import captures_begun

DEPTH = 3


@fxc.compile(dynamic=True)
def smoothed(u):
    for _ in range(DEPTH):
        v = u.copy()
        v[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.2 * (u[1:-1, 2:] + u[1:-1, :-2] - 2 * u[1:-1, 1:-1])
        u = v
    return u


@fxc.compile(dynamic=True)
def standardized(x):
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def result_and_captures(function: Any, x: Any) -> tuple[Any, int]:
    return function(x), captures_begun()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    settings = {"distributed.worker.daemon": False}  # it may start processes of its own
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.fixture
def whole() -> np.ndarray:
    return np.random.default_rng(5).random((60, 90))


@pytest.fixture(autouse=True)
def nothing_is_compiled_in_workers(client: Client, whole: np.ndarray) -> Iterator[None]:
    smoothed.inspect(whole)  # once, here; nothing is run
    standardized.inspect(whole)
    yield
    assert set(client.run(captures_begun).values()) == {0}


@pytest.mark.usefixtures("client")
def test_a_stencil_by_map_overlap_is_that_of_the_whole_array(whole: np.ndarray) -> None:
    chunks = dask.array.from_array(whole, chunks=(20, 30))
    found = chunks.map_overlap(
        smoothed, depth=DEPTH, boundary="none", dtype=whole.dtype, meta=np.empty((0, 0))
    ).compute()
    np.testing.assert_array_equal(found, smoothed.__fxc_original__(whole))


@pytest.mark.usefixtures("client")
def test_rows_by_map_blocks(whole: np.ndarray) -> None:
    chunks = dask.array.from_array(whole, chunks=(7, 90))
    found = chunks.map_blocks(standardized, dtype=whole.dtype, meta=np.empty((0, 0))).compute()
    np.testing.assert_array_equal(found, standardized.__fxc_original__(whole))


@pytest.mark.usefixtures("client")
def test_delayed_calls(whole: np.ndarray) -> None:
    parts = [dask.delayed(standardized)(whole[start : start + 20]) for start in range(0, 60, 20)]
    found = np.concatenate(dask.compute(*parts))
    np.testing.assert_array_equal(found, standardized.__fxc_original__(whole))


def test_joblib(whole: np.ndarray) -> None:
    call, parts = joblib.delayed(result_and_captures), np.split(whole, 3)
    found = joblib.Parallel(n_jobs=2)(call(standardized, part) for part in parts)
    np.testing.assert_array_equal(
        np.concatenate([each for each, _ in found]), standardized.__fxc_original__(whole)
    )
    assert [captures for _, captures in found] == [0, 0, 0]
