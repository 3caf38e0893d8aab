"""llama.cpp in this process: one loaded model, a few slots, one worker thread per slot.

It speaks llama.cpp's own dictionaries. Requests wait in a queue, not in threads; abandoning a job
frees its slot at the next token. Threads are joined before the interpreter dies: a C++ thread that
outlives it would abort the process.
"""

import asyncio
import importlib
import os
import queue
import secrets
import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from callboard.core.errors import Conflict
from callboard.models.errors import WeightsUnusable

_HEARTBEAT_SECONDS: Final = 5.0
_BATCH_TOKENS: Final = 256
_PROMPT_CACHE_MIB: Final = 256
_JOIN_SECONDS: Final = 30.0
_FEW_CORES: Final = 2


@dataclass(frozen=True, slots=True)
class LlamaSettings:
    """How much of the machine the embedded model gets.

    Every slot has a whole window of its own (about 190 MB each); more slots share the same
    cores, so they add fairness, not speed. llama.cpp's threads wait for each other at every
    token, so one core is left free: a busy neighbour would slow all of them to a crawl. Reading
    a prompt has fewer meeting points and takes every core. Two slots that write at once are
    written by the threads that read, so two cores get one slot only.
    """

    slots: int = field(default_factory=lambda: 1 if _cores() <= _FEW_CORES else 2)
    window_tokens: int = 8192
    threads: int = field(default_factory=lambda: max(1, min(_cores() - 1, 8)))
    prompt_threads: int = field(default_factory=lambda: min(_cores(), 16))


def _cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job has not reached a slot yet."""


class _SlotDone:
    """The end of a job's chunks."""


class _Job:
    """One request on its way through a worker thread, and the way back to its event loop."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body
        self.is_abandoned = False
        self.is_started = False
        self._loop = asyncio.get_running_loop()
        self.inbox: asyncio.Queue[dict[str, Any] | Exception | _SlotDone] = asyncio.Queue()

    def post(self, item: dict[str, Any] | Exception | _SlotDone) -> None:
        try:
            self._loop.call_soon_threadsafe(self.inbox.put_nowait, item)
        except RuntimeError:
            # The loop is closed: nobody will ever read this.
            self.is_abandoned = True

    def receive(self, chunk: dict[str, Any]) -> bool:
        """Hand one chunk over; true tells llama.cpp to stop and free the slot."""
        if not self.is_abandoned:
            self.post(chunk)
        return self.is_abandoned


class _Pool:
    """The loaded model and its workers; holds no reference to whoever owns it."""

    def __init__(self, server: Any, slots: int) -> None:
        self._server: Any = server
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._running: set[_Job] = set()
        self._is_closing = False
        self._threads = [
            threading.Thread(target=self._work, name=f"llama-{number}", daemon=True)
            for number in range(slots)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: _Job) -> None:
        self._jobs.put(job)

    def close(self) -> None:
        """Stop what runs, drop what waits, join the workers, free the model."""
        self._is_closing = True
        for job in tuple(self._running):
            job.is_abandoned = True
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)
        del self._server

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._is_closing:
                job.post(Conflict("The embedded model was closed while a request was waiting."))
            elif not job.is_abandoned:
                self._run(job)

    def _run(self, job: _Job) -> None:
        self._running.add(job)
        job.is_started = True
        try:
            self._server.handle_chat_completions(job.body, job.receive)
            job.post(
                Conflict("The embedded model was closed while it was answering.")
                if self._is_closing
                else _SlotDone()
            )
        except Exception as error:  # noqa: BLE001 - the border to C++: handed to the reader
            job.post(error)
        finally:
            self._running.discard(job)


class Llama:
    """The embedded engine: loads on first use, answers chat requests, shuts down cleanly."""

    def __init__(self, weights: Callable[[], Path], settings: LlamaSettings | None = None) -> None:
        """Take a function that returns the weights' path when they are first needed."""
        self.settings = settings or LlamaSettings()
        self._weights = weights
        self._pool: _Pool | None = None
        self._lock = threading.Lock()
        self._finalizer: weakref.finalize[[], Llama] | None = None

    async def start(self) -> None:
        """Load the model unless it is loaded."""
        if self._pool is None:
            await asyncio.to_thread(self._load)

    async def chat(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any] | Waiting]:
        """Yield llama.cpp's stream of chunks for one chat request."""
        await self.start()
        pool = self._pool
        if pool is None:
            raise Conflict("The embedded model was closed.")
        job = _Job(body)
        pool.submit(job)
        try:
            while True:
                try:
                    async with asyncio.timeout(_HEARTBEAT_SECONDS):
                        item = await job.inbox.get()
                except TimeoutError:
                    if not job.is_started:
                        yield Waiting()
                    continue
                if isinstance(item, _SlotDone):
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            job.is_abandoned = True

    async def close(self) -> None:
        """Stop all work and free the model; using it again loads it again."""
        await asyncio.to_thread(self._unload)

    def _load(self) -> None:
        with self._lock:
            if self._pool is not None:
                return
            self._pool = _Pool(_open_server(self._weights(), self.settings), self.settings.slots)
            # Runs at interpreter exit too, while threads still can finish.
            self._finalizer = weakref.finalize(self, self._pool.close)

    def _unload(self) -> None:
        with self._lock:
            if self._finalizer is not None:
                self._finalizer()
            self._pool = None


def _open_server(path: Path, settings: LlamaSettings) -> Any:
    # The extension ships no types.
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel = settings.slots
    params.n_ctx = settings.window_tokens * settings.slots
    # A shared cache would fail two long conversations at once instead of letting each have its own.
    params.kv_unified = False
    params.cpuparams.n_threads = settings.threads
    params.cpuparams_batch.n_threads = settings.prompt_threads
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.verbosity = -1
    params.warmup = False
    # The library opens a loopback port whether it is used or not: nobody gets the key.
    params.api_keys = [secrets.token_urlsafe(32)]
    params.n_threads_http = 1
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise WeightsUnusable(
            f"llama.cpp cannot load {path}: {error}",
            fix="Run `callboard models pull local`, and check that enough memory is free.",
        ) from error
