"""The coordinator of a run on a Dask cluster: it checks workers, assigns trials, and writes their records.

Every trial is assigned to a given worker, so that trials of a split stay together, and a worker's death can be
distinguished from a trial's. Dask transfers messages, monitors workers and starts them on other machines.
"""

from __future__ import annotations

import json
import math
import queue
import time
import uuid
from collections import Counter, defaultdict
from contextlib import suppress
from typing import Any

from bench_core import BenchError, RequestError
from bench_core.execution import Schedule, TrialStatus, TrialStopped, Work, fail
from bench_core.records import Store
from bench_core.suites import Planned
from bench_dask import remote
from bench_dask.cluster import connected
from bench_dask.trials import needs_of, planned_to_plain, request_of
from bench_dask.worker_state import WorkerState

__all__ = ["run_on_dask"]

_POLL = 1.0
"""Seconds between two queries of the list of workers."""
_PATIENCE = 30.0
"""Seconds after which an unreachable scheduler ends the run, and time limit for fetching a task's exception."""
_MOST_DEATHS = 2
"""A trial fails after this many deaths of its workers, or of its process."""


def run_on_dask(work: Work) -> None:
    """Run trials on the workers of a Dask cluster, and write their records to the store of this machine.

    Raises:
        RequestError: no scheduler answers, or no worker can run the trials; the message names each worker's reasons.
        BenchError: the scheduler is gone (finished trials are kept), or a worker cannot store a record temporarily.
        StoreError: a record cannot be written here.
    """
    with connected(work) as client:
        run = _Run(work, client)
        try:
            run.go()
        finally:
            run.leave()


class _Run:
    def __init__(self, work: Work, client: Any) -> None:
        self.work, self.client, self.id = work, client, uuid.uuid4().hex
        self.store = Store(work.settings.store)
        self.schedule = Schedule(work.todo, work.seconds, work.memory)
        self.again: list[Planned] = []
        self.request = json.dumps(request_of(work.settings))
        self.needs = json.dumps(needs_of(work.todo, work.settings.metrics, work.cache.registry))
        self.workers: dict[str, WorkerState] = {}
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
        self._update_workers()
        # Assign no trial before every connected worker has been checked.
        while any(worker.state == "asked" for worker in self.workers.values()):
            self._receive()
        while self._waiting() or any(worker.assigned for worker in self.workers.values()):
            self._assign_all()
            self._receive()

    def leave(self) -> None:
        """Cancel all tasks, and end the run's processes on the workers."""
        for future in self.futures.values():
            with suppress(Exception):
                future.cancel()
        with suppress(Exception):
            addresses = [worker.address for worker in self.workers.values()]
            self.client.sync(
                self.client._run, remote.leave, self.id, workers=addresses, wait=False, callback_timeout=10
            )

    # --- workers ---------------------------------------------------------------------------------------------------

    def _update_workers(self) -> None:
        """Query the list of workers: check new ones, and take back the trials of lost ones.

        Raises:
            BenchError: the scheduler has not answered for `_PATIENCE` seconds.
            RequestError: every worker was refused.
        """
        self.looked = time.monotonic()
        try:
            connected_now = dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError, AttributeError):
            if time.monotonic() - self.heard > _PATIENCE or self.client.status == "closed":
                raise BenchError(
                    "the Dask scheduler is gone; finished trials are kept, run the same command to continue"
                ) from None
            return
        self.heard = time.monotonic()
        for address in [address for address in self.workers if address not in connected_now]:
            self._lost(self.workers.pop(address))
        threads = Counter[str]()
        for info in connected_now.values():
            threads[str(info.get("host", ""))] += int(info.get("nthreads", 1))
        for address, info in connected_now.items():
            if address not in self.workers:
                self._check(address, info, threads[str(info.get("host", ""))])
        usable = [worker for worker in self.workers.values() if worker.state != "refused"]
        if usable:
            self.had_workers, self.waiting_noticed = self.heard, False
        elif self.workers:
            raise RequestError("no Dask worker can run these trials: " + "; ".join(self.refused.values()))
        elif not self.waiting_noticed and self.heard - self.had_workers > 2 * _POLL:
            self.waiting_noticed = True
            self.work.notice(f"{self.client.scheduler.address} has no worker; waiting for one")

    def _check(self, address: str, info: dict[str, Any], concurrent: int) -> None:
        """Ask a new worker whether it can run the trials."""
        self.workers[address] = worker = WorkerState.of(address, info, concurrent)
        key = f"bench-check-{uuid.uuid4().hex}"
        self._submit(key, worker, remote.check, self.id, self.request, concurrent, self.needs)

    def _lost(self, worker: WorkerState) -> None:
        """Take back the trials of a lost worker, and count a death for each trial that it was running."""
        for key in [key for key, future in self.futures.items() if getattr(future, "bench_worker", None) is worker]:
            self._drop(key)
        for number, planned in enumerate(worker.assigned.values()):
            if number < worker.slots:
                self.deaths[planned.name].append(worker.name)
            if len(self.deaths[planned.name]) >= _MOST_DEATHS:
                message = f"the workers that ran it died: {', '.join(self.deaths[planned.name])}"
                self._failed(planned, TrialStopped("killed", message), worker)
            else:
                self.again.append(planned)

    def _checked(self, worker: WorkerState, answer: dict[str, Any]) -> None:
        if answer["reasons"]:
            worker.state = "refused"
            line = f"{worker.name}: {'; '.join(answer['reasons'])}"
            self.refused[worker.address] = line
            self.work.notice(f"Dask worker refused: {line}")
            return
        worker.state = "ready"
        worker.environment = answer["environment"]

    # --- trials ----------------------------------------------------------------------------------------------------

    def _assign_all(self) -> None:
        """Assign trials to the free slots of every worker, and as many in advance while plenty of trials are left."""
        ready = [worker for worker in self.workers.values() if worker.state == "ready"]
        slots = sum(worker.slots for worker in ready)
        largest = max((worker.memory for worker in ready), default=0.0)
        for more in (False, True):
            for worker in ready:
                limit = worker.slots * (1 + more)
                while self._waiting() > (2 * slots if more else 0) and len(worker.assigned) < limit:
                    planned = self._take(worker, max(1, slots), self._free_memory(worker, largest))
                    if planned is None:
                        break
                    self._assign(planned, worker)

    def _waiting(self) -> int:
        """Return the number of trials that are not assigned to any worker."""
        return len(self.schedule) + len(self.again)

    def _take(self, worker: WorkerState, slots: int, room: float) -> Planned | None:
        """Return a worker's next trial: one that has to run again, or the schedule's choice; None if none fits."""
        for number, planned in enumerate(self.again):
            if self.work.memory.get(planned.name, -math.inf) <= room:
                return self.again.pop(number)
        return self.schedule.take(worker.address, slots, room)

    def _free_memory(self, worker: WorkerState, largest: float) -> float:
        """Return the bytes that a worker's next trial may need; an idle worker of the largest kind takes any trial."""
        if worker.memory == largest and not worker.assigned:
            return math.inf
        return worker.memory - sum(self.work.memory.get(planned.name, 0.0) for planned in worker.assigned.values())

    def _assign(self, planned: Planned, worker: WorkerState) -> None:
        key = f"bench-{planned.name[:16]}-{uuid.uuid4().hex}"
        worker.assigned[key] = planned
        trial = json.dumps(planned_to_plain(planned))
        self._submit(key, worker, remote.run_trial, self.id, self.request, worker.concurrent, trial)

    def _submit(self, key: str, worker: WorkerState, task: Any, *arguments: Any) -> None:
        future = self.client.submit(
            task, key, *arguments, key=key, workers=[worker.address], allow_other_workers=False, pure=False
        )
        future.bench_worker = worker
        self.futures[key] = future
        future.add_done_callback(self.answers.put)

    def _drop(self, key: str) -> None:
        with suppress(Exception):
            self.futures.pop(key).cancel()

    def _receive(self) -> None:
        """Wait up to `_POLL` seconds for answers, process them, and update the list of workers."""
        finished: list[Any] = []
        future: Any
        with suppress(queue.Empty):
            finished.append(self.answers.get(timeout=_POLL))
            while True:
                finished.append(self.answers.get_nowait())
        known: list[Any] = [future for future in finished if self.futures.get(future.key) is future]
        for future, answer in zip(known, self._gathered(known), strict=True):
            worker = future.bench_worker
            if self.futures.pop(future.key, None) is not None:
                self._answered(future.key, worker, answer)
        if time.monotonic() - self.looked > _POLL:
            self._update_workers()

    def _gathered(self, futures: list[Any]) -> list[Any]:
        """Return for each task its result, the exception that it raised, or None if its worker is lost."""
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

    def _answered(self, key: str, worker: WorkerState, answer: Any) -> None:
        """Process the answer of a worker's check or of a trial."""
        planned = worker.assigned.pop(key, None)
        if isinstance(answer, str):
            self._checked(worker, json.loads(answer))
        elif planned is None:
            if answer is None:  # the worker is gone or closing
                self.workers.pop(worker.address, None)
            else:
                self._checked(worker, {"reasons": [_one_line(answer)]})
        elif answer is None:
            self.again.append(planned)
        elif isinstance(answer, BaseException):
            self._again(planned, TrialStopped("error", f"its worker could not run it: {_one_line(answer)}"), worker)
        else:
            self._write(planned, worker, *answer)

    def _write(self, planned: Planned, worker: WorkerState, text: str, record: bytes, decisions: bytes | None) -> None:
        """Write a trial's record to the store; repeat or fail a trial whose process ended.

        Raises:
            BenchError: the worker could not store the record temporarily.
            StoreError: the record cannot be written here.
        """
        result = json.loads(text)
        if "error" in result:
            raise BenchError(f"Dask worker {worker.name}: {result['error']}")
        if "stopped" in result:
            stopped = TrialStopped(*result["stopped"])
            if stopped.kind == "killed":
                self._again(planned, stopped, worker)
            else:
                self._failed(planned, stopped, worker)
            return
        try:
            self.store.add(planned.name, record, decisions)
        except ValueError as error:
            self._again(planned, TrialStopped("error", f"the record from {worker.name} is damaged: {error}"), worker)
            return
        self.work.note(TrialStatus(planned.name, result["status"], result["message"], result["seconds"]))

    def _again(self, planned: Planned, stopped: TrialStopped, worker: WorkerState) -> None:
        """Run a trial again after its process was killed, or fail it after `_MOST_DEATHS` times."""
        self.killed[planned.name] += 1
        if self.killed[planned.name] >= _MOST_DEATHS:
            self._failed(planned, stopped, worker)
        else:
            self.again.append(planned)

    def _failed(self, planned: Planned, stopped: TrialStopped, worker: WorkerState) -> None:
        seconds = self.work.options.timeout or 0.0 if stopped.kind == "time" else 0.0
        self.work.note(fail(planned, self.work.settings, stopped, seconds, worker.environment or None))


def _one_line(error: object) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
