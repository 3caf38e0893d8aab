"""Measures each benchmark in a process of its own, so that none warms or burdens another."""

import importlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from bench.report import Measured


def measure_apart(name: str, *, quick: bool) -> tuple[Measured, str]:
    """Return what the benchmark found and how it says it measures."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measure, name, quick).result()


def _measure(name: str, quick: bool) -> tuple[Measured, str]:
    module = importlib.import_module(f"bench.{name}")
    return module.measure(quick=quick), module.__doc__
