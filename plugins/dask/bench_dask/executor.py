"""The coordinator of a run on a Dask cluster: it checks workers, hands out trials, and writes what comes back.

Every trial goes to a worker by name, so that trials of one split stay together and a worker's death is told from a
trial's. Dask moves the messages, watches over the workers and starts them on other machines.
"""

from __future__ import annotations

import json
import math
import queue
import time
import uuid
from collections import Counter, OrderedDict, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bench_core import BenchError, RequestError
from bench_core.execution import Schedule, TrialStatus, TrialStopped, Work, WorkerSettings, fail
from bench_core.records import Store
from bench_core.suites import Planned
from bench_dask import remote
from bench_dask.cluster import connected
from bench_dask.trials import needs_of, planned_to_plain

__all__ = ["run_on_dask"]

_LOOK = 1.0
"""Seconds between two looks at which workers there are."""
_PATIENCE = 30.0
"""Seconds without a worker, or without a scheduler, after which something is said."""
_MOST_DEATHS = 2


def run_on_dask(work: Work) -> None:
    """Run trials on the workers of a Dask cluster, and write their records here.

    Raises:
        RequestError: no scheduler answers, or no worker can run the trials; why is said of each.
        BenchError: the scheduler is gone; what was done is kept.
        StoreError: a record cannot be written here, or kept by a worker until it is sent.
    """
    with connected(work) as client:
        run = _Run(work, client)
        try:
            run.go()
        finally:
            run.leave()


@dataclass
class _Place:
    """A worker of the cluster.

    Attributes:
        address, name: what Dask calls it.
        slots: how many trials it runs at a time.
        beside: how many all workers of its machine run at a time.
        room: bytes that its trials may need together.
        state: ``asked`` whether it can run the trials, ``ready`` or ``refused``.
        environment: for the records of trials that end their process.
        handed: what it was given and has not answered, in order.
    """

    address: str
    name: str
    slots: int
    beside: int
    room: float
    state: str = "asked"
    environment: dict[str, Any] = field(default_factory=dict)
    handed: OrderedDict[str, Planned] = field(default_factory=OrderedDict)


class _Run:
    def __init__(self, work: Work, client: Any) -> None:
        self.work, self.client, self.id = work, client, uuid.uuid4().hex
        self.store = Store(work.settings.store)
        self.schedule = Schedule(work.todo, work.seconds, work.memory)
        self.request = json.dumps(_request_of(work.settings))
        self.needs = json.dumps(needs_of(work.todo, work.settings.metrics, work.cache.registry))
        self.places: dict[str, _Place] = {}
        self.refused: dict[str, str] = {}
        self.futures: dict[str, Any] = {}
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.deaths: dict[str, list[str]] = defaultdict(list)
        self.killed: Counter[str] = Counter()
        self.looked = self.heard = self.had_workers = 0.0
        self.waiting_noticed = False

    def go(self) -> None:
        """Run all trials.

        Raises: as `run_on_dask`.
        """
        self.heard = self.had_workers = time.monotonic()
        self._look()
        # No trial before every worker that is there has said that it can run them.
        while any(place.state == "asked" for place in self.places.values()):
            self._hear()
        while len(self.schedule) or any(place.handed for place in self.places.values()):
            self._hand_out()
            self._hear()

    def leave(self) -> None:
        """Let go of everything on the workers."""
        for future in self.futures.values():
            with suppress(Exception):
                future.cancel()
        with suppress(Exception):
            here = [place.address for place in self.places.values()]
            self.client.sync(self.client._run, remote.leave, self.id, workers=here, wait=False, callback_timeout=10)

    # --- workers ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Learn which workers there are: ask the new ones, and take back what those had that are gone."""
        self.looked = time.monotonic()
        try:
            there = dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError, AttributeError):
            if time.monotonic() - self.heard > _PATIENCE or self.client.status == "closed":
                raise BenchError(
                    "the Dask scheduler is gone; what was done is kept, run the same command to go on"
                ) from None
            return
        self.heard = time.monotonic()
        for address in [address for address in self.places if address not in there]:
            self._lost(self.places.pop(address))
        beside = Counter[str]()
        for info in there.values():
            beside[str(info.get("host", ""))] += int(info.get("nthreads", 1))
        for address, info in there.items():
            if address not in self.places:
                self._ask(address, info, beside[str(info.get("host", ""))])
        usable = [place for place in self.places.values() if place.state != "refused"]
        if usable:
            self.had_workers, self.waiting_noticed = self.heard, False
        elif self.places:
            raise RequestError("no Dask worker can run these trials: " + "; ".join(self.refused.values()))
        elif not self.waiting_noticed and self.heard - self.had_workers > 2 * _LOOK:
            self.waiting_noticed = True
            self.work.notice(f"{self.client.scheduler.address} has no worker; waiting for one")

    def _ask(self, address: str, info: dict[str, Any], beside: int) -> None:
        import psutil

        limit = float(info.get("memory_limit") or 0) or float(psutil.virtual_memory().total)
        name = str(info.get("name", address))
        shown = name if name == address else f"{name} ({address})"
        place = _Place(address, shown, int(info.get("nthreads", 1)), beside, limit)
        self.places[address] = place
        self._submit(f"bench-check-{uuid.uuid4().hex}", place, remote.check, self.id, self.request, beside, self.needs)

    def _lost(self, place: _Place) -> None:
        """Take back what a worker had that is gone. What it was at has seen a death."""
        for key in [key for key, future in self.futures.items() if getattr(future, "bench_place", None) is place]:
            self._drop(key)
        for number, planned in enumerate(place.handed.values()):
            if number < place.slots:
                self.deaths[planned.name].append(place.name)
            if len(self.deaths[planned.name]) >= _MOST_DEATHS:
                message = f"the workers that ran it died: {', '.join(self.deaths[planned.name])}"
                self._failed(planned, TrialStopped("killed", message), place)
            else:
                self.schedule.put(planned)
        self.schedule.leave(place.address)

    def _checked(self, place: _Place, answer: dict[str, Any]) -> None:
        if answer["reasons"]:
            place.state = "refused"
            line = f"{place.name}: {'; '.join(answer['reasons'])}"
            self.refused[place.address] = line
            self.work.notice(f"Dask worker refused: {line}")
            return
        place.state = "ready"
        place.environment = answer["environment"]

    # --- trials ----------------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        """Give every worker what it can run, and a little more while there is much."""
        ready = [place for place in self.places.values() if place.state == "ready"]
        slots = sum(place.slots for place in ready)
        largest = max((place.room for place in ready), default=0.0)
        for more in (False, True):
            for place in ready:
                most = place.slots * (1 + more)
                while len(self.schedule) > (2 * slots if more else 0) and len(place.handed) < most:
                    planned = self.schedule.take(place.address, max(1, slots), self._room(place, largest))
                    if planned is None:
                        break
                    self._hand(planned, place)

    def _room(self, place: _Place, largest: float) -> float:
        """Bytes that a worker's next trial may need; what is too large for all runs alone on one of the largest."""
        if place.room == largest and not place.handed:
            return math.inf
        return place.room - sum(self.work.memory.get(planned.name, 0.0) for planned in place.handed.values())

    def _hand(self, planned: Planned, place: _Place) -> None:
        key = f"bench-{planned.name[:16]}-{uuid.uuid4().hex}"
        place.handed[key] = planned
        trial = json.dumps(planned_to_plain(planned))
        self._submit(key, place, remote.run_trial, self.id, self.request, place.beside, trial)

    def _submit(self, key: str, place: _Place, task: Any, *arguments: Any) -> None:
        future = self.client.submit(
            task, key, *arguments, key=key, workers=[place.address], allow_other_workers=False, pure=False
        )
        future.bench_place = place
        self.futures[key] = future
        future.add_done_callback(self.answers.put)

    def _drop(self, key: str) -> None:
        with suppress(Exception):
            self.futures.pop(key).cancel()

    def _hear(self) -> None:
        """Wait a moment for answers, and do what they ask for."""
        heard: list[Any] = []
        future: Any
        with suppress(queue.Empty):
            heard.append(self.answers.get(timeout=_LOOK))
            while True:
                heard.append(self.answers.get_nowait())
        known: list[Any] = [future for future in heard if self.futures.get(future.key) is future]
        for future, answer in zip(known, self._gathered(known), strict=True):
            place = future.bench_place
            if self.futures.pop(future.key, None) is not None:
                self._answered(future.key, place, answer)
        if time.monotonic() - self.looked > _LOOK:
            self._look()

    def _gathered(self, futures: list[Any]) -> list[Any]:
        """What tasks returned; an exception for each that did not, None for each whose worker is gone."""
        done = [future for future in futures if future.status == "finished"]
        answers: dict[str, Any] = {}
        if done:
            with suppress(Exception):
                results = self.client.sync(self.client._gather, done, errors="skip", callback_timeout=10)
                if len(results) == len(done):
                    answers = {future.key: answer for future, answer in zip(done, results, strict=True)}
        for future in futures:
            if future.status == "error":
                with suppress(Exception):
                    answers[future.key] = future.exception(timeout=_PATIENCE)
        return [answers.get(future.key) for future in futures]

    def _answered(self, key: str, place: _Place, answer: Any) -> None:
        """One task's answer: of a worker that was asked, or of a trial."""
        planned = place.handed.pop(key, None)
        if isinstance(answer, str):
            self._checked(place, json.loads(answer))
        elif planned is None:
            if answer is None:  # its worker is gone, or going
                self.places.pop(place.address, None)
            else:
                self._checked(place, {"reasons": [_one_line(answer)]})
        elif answer is None:
            self.schedule.put(planned)
        elif isinstance(answer, BaseException):
            self._again(planned, TrialStopped("error", f"its worker could not run it: {_one_line(answer)}"), place)
        else:
            self._write(planned, place, *answer)

    def _write(self, planned: Planned, place: _Place, text: str, record: bytes, decisions: bytes | None) -> None:
        """Write what a worker gave back."""
        result = json.loads(text)
        if "error" in result:
            raise BenchError(f"Dask worker {place.name}: {result['error']}")
        if "stopped" in result:
            stopped = TrialStopped(*result["stopped"])
            if stopped.kind == "killed":
                self._again(planned, stopped, place)
            else:
                self._failed(planned, stopped, place)
            return
        try:
            self.store.add(planned.name, record, decisions)
        except ValueError as error:
            self._again(planned, TrialStopped("error", f"what {place.name} gave back is damaged: {error}"), place)
            return
        self.work.note(TrialStatus(planned.name, result["status"], result["message"], result["seconds"]))

    def _again(self, planned: Planned, stopped: TrialStopped, place: _Place) -> None:
        """Run a trial once more whose process was killed, or fail it."""
        self.killed[planned.name] += 1
        if self.killed[planned.name] >= _MOST_DEATHS:
            self._failed(planned, stopped, place)
        else:
            self.schedule.put(planned)

    def _failed(self, planned: Planned, stopped: TrialStopped, place: _Place) -> None:
        seconds = self.work.options.timeout or 0.0 if stopped.kind == "time" else 0.0
        self.work.note(fail(planned, self.work.settings, stopped, seconds, place.environment or None))


def _request_of(settings: WorkerSettings) -> dict[str, Any]:
    """What a `bench_dask.process.TrialProcess` needs to know of a run's settings, as plain JSON values."""
    same = {
        name: getattr(settings, name) for name in ("metrics", "memory", "isolation", "timeout", "audit_seed", "judge")
    }
    return {**same, "offline": settings.context.offline}


def _one_line(error: object) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
