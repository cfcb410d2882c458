"""A program's run against an emulated device, as findings of its launches and its host, and as counters.

What launches moved is added up kernel by kernel.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import OurError
from grader.kinds.host_runs.too_large import too_large
from grader.model import (
    Clause,
    Counters,
    Finding,
    FindingCode,
    FindingKind,
    KernelCounters,
    LineCounters,
    Severity,
)
from grader.model.findings import work_limit_reason
from grader.model.messages import worded
from grader.running.device.device import MOST_MISTAKES, Device
from grader.running.device.element_sizes import sent_back_in_elements
from grader.running.device.errors import HostCode, HostMistake
from grader.running.device.host_source import HostSource
from grader.running.device.launches import EmulatedLaunches
from grader.running.device.memory import PAGE, DeviceMemory, OutOfMemoryError, Owner
from grader.running.device.observation import Observation
from grader.running.device.requests import CopyKind, Sharing
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.model import Argument, Build, Case, Detail, Launch, Named, ProgramRun
    from grader.running.device.memory import DeviceAllocation
    from grader.running.device.observation import KernelRun
    from grader.running.device.watched_launches import WatchedLaunch

CODES = {
    code: FindingCode[f"HOST_{code.name}"]
    for code in HostCode
    if f"HOST_{code.name}" in FindingCode.__members__
}

_INFORMATION = (
    HostCode.POINTER_SIZED_COPY,
    HostCode.FILLED_BYTES,
    HostCode.LEAK,
    HostCode.NEVER_COPIED_BACK,
    HostCode.OUTPUT_LOST,
    HostCode.ERRORS_NEVER_ASKED,
)
_WARNINGS = (HostCode.MEMSET_OF_ELEMENTS, HostCode.EVENT_NOT_WAITED_FOR, HostCode.OUT_OF_MEMORY)
"""Mistakes that may do no harm, or that a larger device would not show."""

_IN_ELEMENTS = (HostCode.ALLOCATED_ELEMENTS, HostCode.COPIED_ELEMENTS)
"""Mistakes that are none where the statement says `sizeof`."""

_FIRST_PAGE = 4096
"""Lowest address of any memory: an access below it goes through a null pointer."""

_WAYS = {
    (False, False): "from-host-to-host",
    (False, True): "from-host-to-device",
    (True, False): "from-device-to-host",
    (True, True): "from-device-to-device",
}
_KINDS = {
    CopyKind.HOST_TO_HOST: "cudaMemcpyHostToHost",
    CopyKind.HOST_TO_DEVICE: "cudaMemcpyHostToDevice",
    CopyKind.DEVICE_TO_HOST: "cudaMemcpyDeviceToHost",
    CopyKind.DEVICE_TO_DEVICE: "cudaMemcpyDeviceToDevice",
    CopyKind.DEFAULT: "cudaMemcpyDefault",
}


class EmulatedDevice:
    """One device for one run of a program, and its observations when the run is over.

    It has ``memory_bytes``, and all launches together may take ``work``.
    """

    def __init__(
        self,
        build: Build,
        file: str,
        text: str,
        memory_bytes: int,
        work: int,
        observation: Observation | None = None,
        further: Named[str] = (),
    ) -> None:
        self._file = file
        texts = dict(further)
        others = tuple(HostSource(texts.get(n, ""), dict(b.call_lines), n) for n, b in build.others)
        self._source = HostSource(text, dict(build.call_lines), file, others)
        self._allowed_work = work
        self._memory = DeviceMemory(memory_bytes)
        self._launches = EmulatedLaunches(
            self._memory,
            build,
            file,
            self._note,
            self._source.name_of,
            symbol_mistake=self._symbol_mistake,
            time_is_up=self._time_is_up,
            observation=observation or Observation(),
            steps=work,
        )
        self.device = Device(self._memory, self._launches, recorders=list(filter(None, [self._launches.log])))
        self._held: dict[str, DeviceAllocation] = {}
        self._on_host: dict[str, tuple[int, int, int]] = {}

    def close(self) -> None:
        """Give the memory of the device back; nothing is asked of it afterwards."""
        self._memory.close()
        self._launches.close()

    def hold(self, argument: Argument, *, undefined: bool) -> int:
        """Put an array into device memory before the program starts, and say where.

        What it holds counts as never written if it is ``undefined``. Raises OurError where there is no room.
        """
        content = np.ascontiguousarray(argument.value).view(np.uint8).reshape(-1)
        try:
            allocation = self._memory.allocate(content.size, Sharing.DEVICE, 0, Owner.ARGUMENT)
        except OutOfMemoryError:
            raise OurError(
                f"the arrays of a case take more than the {self._memory.limit >> 20} MiB of `device_memory`"
            ) from None
        self._memory.bytes[allocation.start : allocation.end] = content
        self._memory.written[allocation.start : allocation.end] = not undefined
        self._source.give_name(allocation, argument.label)
        self._held[argument.name] = allocation
        self._launches.shapes[allocation.start] = np.shape(argument.value)
        return allocation.address

    def hold_on_host(self, argument: Argument, start: int) -> None:
        """Remember an array that the program puts into memory of the host, where it starts at an address."""
        value = np.asarray(argument.value)
        self._on_host[argument.label] = start, value.itemsize, value.size

    def held(self, argument: Argument) -> NDArray[Any]:
        """Current contents of an array that was put there, in its shape."""
        allocation = self._held[argument.name]
        content = self._memory.bytes[allocation.start : allocation.end].copy()
        return content.view(argument.value.dtype).reshape(np.shape(argument.value))

    def look_up_lines(self, lines_of: Callable[[Iterable[int]], Mapping[int, tuple[str, int]]]) -> None:
        """Learn the lines of the instructions that touched what they must not: no calls, and so not known.

        ``lines_of`` gives file and line of addresses.
        """
        addresses = {a for mistake in self.device.mistakes for a in (mistake.caller, *mistake.callers)}
        unknown = {a for a in addresses if a and self._source.line_of(a) is None}
        places = lines_of(unknown) if unknown else {}
        for source in (self._source, *self._source.others):
            lines = {address: line for address, (file, line) in places.items() if file == source.file}
            source.call_lines = {**source.call_lines, **lines}

    def _note(self, mistake: HostMistake) -> None:
        self.device.note(mistake)

    def _time_is_up(self) -> bool:
        return time.monotonic() > self.device.deadline

    def _symbol_mistake(self, caller: int, address: int) -> HostMistake | None:
        return self.device.symbol_mistake(caller, address)

    @property
    def watched(self) -> Mapping[str, WatchedLaunch]:
        """The last launches of the kernels that were watched, by the kernels' names."""
        return self._launches.watched

    @property
    def ran(self) -> tuple[str, ...]:
        """The names of the kernels that were launched, in the order of the launches."""
        return tuple(read_name(launched.kernel).name for launched in self._launches.runs)

    @property
    def executed(self) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
        """The kernels that ran, launch by launch, each with the instructions that threads came to."""
        return ((launched.kernel, launched.run.executed) for launched in self._launches.runs)

    @property
    def kernels(self) -> tuple[KernelCounters, ...]:
        """Counters of each kernel, summed over its launches."""
        return kernel_counters(self._launches.runs, self._file)

    @property
    def only_launch(self) -> Launch | None:
        """Launch configuration of its kernel, where the program launches one, and always in the same way."""
        launches = dict.fromkeys((ran.kernel, ran.launch) for ran in self._launches.runs)
        return next(iter(launches))[1] if len(launches) == 1 else None

    @property
    def runs(self) -> tuple[KernelRun, ...]:
        """Run of each launch."""
        return tuple(self._launches.runs)

    @property
    def left_out_a_launch(self) -> bool:
        """True if a launch was given up, or not interpreted: the program learns of an error of our making."""
        return bool(self._launches.gave_up or self._launches.unsupported or self.device.lacks_memory)

    @property
    def unsupported(self) -> str:
        """First request that this device does not support, with its line; empty if there is none."""
        if self._launches.unsupported:
            return self._launches.unsupported
        for mistake in self.device.mistakes:
            if mistake.code is HostCode.UNSUPPORTED:
                line = self._source.line_of(mistake.caller)
                where = f", line {line}" if line else ""
                return f"not supported here: `{dict(mistake.details)['name']}`{where}"
        return ""

    def too_much_work(
        self, program_seconds: float, allowed_seconds: float, *, in_time: bool
    ) -> Clause | None:
        """Reason why its launches are not judged: they took more than they may, the program did not."""
        launches = self._launches
        if self.device.lacks_memory:
            return work_limit_reason(Clause("more-memory"))
        if launches.gave_up and not launches.out_of_time:
            *earlier, last = launches.runs
            before, line = sum(run.run.work for run in earlier), self._source.line_of(last.caller)
            return too_large(last, before, self._allowed_work, line)
        if in_time and not launches.out_of_time:
            return None
        if self.device.host_took_too_long:
            return None
        if program_seconds - launches.seconds - self.device.library_seconds >= allowed_seconds:
            return None
        return Clause("launches-took", (("seconds", round(launches.seconds)),))

    def why_host_was_stopped(self, allowed_seconds: float) -> Clause | None:
        """Reason that host code took more time than it may, with its last call; None if it did not."""
        if not self.device.host_took_too_long:
            return None
        values = (("seconds", f"{allowed_seconds:g}"), ("last_call", self._last_call()))
        return Clause("host-took-too-long", values)

    def failed_call(self, run: ProgramRun) -> Finding | None:
        """The first call that failed; a remark where the run ended well and lacks neither memory nor a graph.

        None where another finding is about the same call.
        """
        failure = self.device.first_failure
        ended = _bad_end(run)
        if failure is None:
            return None
        is_grave = bool(ended) or failure.is_lasting
        if not is_grave and failure.caller in {mistake.caller for mistake in self.device.mistakes}:
            return None
        sizes = (m.details for m in self.device.mistakes if m.code is HostCode.OUT_OF_MEMORY)
        call = self._source.call_of(failure.caller)
        details: dict[str, Detail] = {
            "call": (Clause("runtime-call", (("name", call),)) if call else Clause("some-call"),),
            "error": failure.words,
            "sizes": tuple(Clause("asks-for", size) for size in islice(sizes, 1)),
            "then": ended if is_grave else (Clause("then-goes-on"),),
        }
        return worded(
            Finding(
                FindingKind.HOST,
                severity=Severity.ERROR if is_grave else Severity.INFO,
                file=self._source.file_of(failure.caller),
                line=self._source.line_of(failure.caller),
                code=FindingCode.CALL_FAILED,
                details=tuple(details.items()),
            )
        )

    def work_left(self) -> tuple[Finding, ...]:
        """Remarks that explain wrong results: pointers that were sent, launches that leave work undone."""
        work_left, names = self._launches.work_left, self._names()
        remarks = []
        for number, copy in self._memory.sent.items():
            holds_numbers = number in self._launches.elements
            if holds_numbers and copy.offset == 0 and self._source.copies_pointers(copy.caller):
                array = names.get(number, "")
                remarks.append(self._remark(FindingCode.ADDRESSES_SENT, copy.caller, (), array))
        for unread in work_left.unread.values():
            them = Clause("blocks" if unread.index.startswith("blockIdx") else "threads-of-a-block")
            details: Named[Detail] = (
                ("kernel", unread.kernel),
                ("index", unread.index),
                ("count", unread.count),
                ("them", (them,)),
            )
            remarks.append(self._remark(FindingCode.INDEX_UNREAD, unread.caller, details))
        for part in work_left.parts_left(self._memory):
            details = (
                ("kernel", part.kernel),
                ("missing", part.missing),
                ("total", part.total),
                ("first", part.first),
            )
            array = names.get(part.allocation, "")
            remarks.append(self._remark(FindingCode.PART_LEFT, part.caller, details, array))
        return tuple(remarks)

    def _remark(self, code: FindingCode, caller: int, details: Named[Detail], array: str = "") -> Finding:
        file, line = self._source.file_of(caller), self._source.line_of(caller)
        remark = Finding(FindingKind.HOST, severity=Severity.INFO, file=file, line=line, code=code)
        return worded(replace(remark, address=array, details=details))

    def _last_call(self) -> tuple[Clause, ...]:
        """Last place where the program called the device; empty where the line is not known."""
        caller = self.device.last_caller
        line, file = self._source.line_of(caller), self._source.file_of(caller)
        if not caller:
            return (Clause("no-call-yet"),)
        if line is None:
            return ()
        if file == self._file:
            return (Clause("last-call", (("line", line),)),)
        return (Clause("last-call-elsewhere", (("line", line), ("file", file))),)

    def findings(self, case: Case, *, succeeded: bool) -> tuple[Finding, ...]:
        """Findings of the launches and of the host's calls, in the order of the program.

        A program that has not ``succeeded`` by its own word may leave things undone.
        """
        launches = [f for run in self._launches.runs for f in run.run.findings]
        names = self._names()
        host = [
            self._finding(mistake, names)
            for mistake in (*self.device.mistakes, *self._at_the_end(succeeded=succeeded))
            if mistake.code is not HostCode.UNSUPPORTED  # see `unsupported`
            and not (mistake.code in _IN_ELEMENTS and self._source.counts_bytes(mistake.caller))
        ]
        merged = list(dict.fromkeys((*host, *launches)))
        return tuple(worded(replace(finding, case=case.id)) for finding in merged)

    def _names(self) -> dict[int, str]:
        """The names of all allocations by their number, given in that order: calls on one line take turns."""
        allocations = self._memory.all_ever()
        return {a.number: self._source.name_of(a) for a in sorted(allocations, key=lambda a: a.number)}

    def _at_the_end(self, *, succeeded: bool) -> Iterator[HostMistake]:
        """Mistakes that show only when a program is over."""
        codes = {mistake.code for mistake in self.device.mistakes}
        if HostCode.LAUNCH_REFUSED in codes and not self.device.errors_asked:
            yield HostMistake(HostCode.ERRORS_NEVER_ASKED, 0)
        if not succeeded:  # it never came to what is missing
            return
        allocations = (a for a in self._memory.in_order() if a.owner is Owner.PROGRAM)
        for allocation in islice(allocations, MOST_MISTAKES):
            details = (("size", allocation.size),)
            yield HostMistake(HostCode.LEAK, allocation.caller, allocation.number, details)
        if self.device.unread and not self._held and not any(a.sharing for a in self._memory.in_order()):
            caller, name = self.device.unread
            of_kernel = (("kernel", name), ("read_before", int(self.device.read_before)))
            yield HostMistake(HostCode.NEVER_COPIED_BACK, caller, details=of_kernel)
        if self.device.printed:
            yield HostMistake(HostCode.OUTPUT_LOST, 0)
        for allocation in self._memory.all_ever():
            copies = self._memory.sent_back.get(allocation.number, set())
            element = self._launches.elements.get(allocation.number, 0)
            mistake = sent_back_in_elements(allocation, element, copies)
            if mistake is not None and self._memory.written[allocation.start : allocation.end].all():
                yield mistake

    def _finding(self, mistake: HostMistake, names: Mapping[int, str]) -> Finding:
        callers = (mistake.caller, *mistake.callers)
        where = next((caller for caller in callers if self._source.line_of(caller)), 0)
        line, file = self._source.line_of(where), self._source.file_of(where)
        other_line = self._source.line_of(mistake.other) if mistake.other else None
        if self._source.file_of(mistake.other) != file:
            other_line = None
        array, mistake = self._beside_array(mistake) if mistake.code is HostCode.FAULT else ("", mistake)
        return Finding(
            FindingKind.HOST,
            "",
            file=file,
            line=line,
            other_line=other_line,
            address=names.get(mistake.allocation, array),
            severity=_severity(mistake),
            code=CODES[mistake.code],
            details=_details(mistake, line, other_line),
        )

    def _beside_array(self, fault: HostMistake) -> tuple[str, HostMistake]:
        """The array of the host beside which a fault lies, and the mistake that it then is."""
        address = int(str(dict(fault.details)["offset"]))
        for name, (start, width, size) in self._on_host.items():
            if start - 2 * PAGE < address < start + width * size + PAGE:
                details = (("index", (address - start) // width), ("elements", size))
                return name, replace(fault, code=HostCode.OUTSIDE_ARRAY, details=details)
        return "", fault


def _bad_end(run: ProgramRun) -> tuple[Clause, ...]:
    """Ending of a run that gave up by itself; empty where it ended well, or was stopped."""
    if run.ending == "exit" and run.returncode:
        return (Clause("then-status", (("status", run.returncode),)),)
    return (Clause("then-gives-up"),) if run.ending == "signal" else ()


def _severity(mistake: HostMistake) -> Severity:
    """Severity of a mistake: right programs, too, copy padding back, or only the beginning of an array."""
    details = dict(mistake.details)
    if mistake.code is HostCode.NEVER_WRITTEN and details["missing"] != details["bytes"]:
        return Severity.INFO
    if mistake.code is HostCode.COPIED_ELEMENTS and details.get("back"):
        return Severity.INFO
    return severity_of(mistake.code)


def severity_of(code: HostCode) -> Severity:
    """Severity of a mistake by itself."""
    if code in _INFORMATION:
        return Severity.INFO
    return Severity.WARNING if code in _WARNINGS else Severity.ERROR


def _details(
    mistake: HostMistake, line: int | None, other_line: int | None
) -> tuple[tuple[str, Detail], ...]:
    """The data of a mistake as its sentence needs them."""
    details: dict[str, Detail] = dict(mistake.details)
    if mistake.code is HostCode.TOUCHED_EARLY:
        details["asked"] = (Clause("work-asked-for", (("line", other_line),)),) if other_line else ()
    if mistake.code is HostCode.LAUNCH_REFUSED:
        threads = 1
        for extent in str(details["block"]).split(", "):
            threads *= int(extent)
        values = (("threads", threads), ("bytes", details["shared_bytes"]))
        details["reason"] = (Clause(f"refused-{details['reason']}", values),)
    if mistake.code is HostCode.WRONG_DIRECTION:
        details["way"] = (Clause(_WAYS[bool(details.pop("source")), bool(details.pop("target"))]),)
        details["kind"] = _KINDS[CopyKind(int(str(details["kind"])))]
    if mistake.code is HostCode.COPY_OF_NOTHING:
        details["address"] = f"{int(str(details['address'])):#x}"
    if mistake.code is HostCode.FAULT:
        address = int(str(details["offset"]))
        details["address"] = f"{address:#x}"
        details["near_null"] = (Clause("near-null"),) if address < _FIRST_PAGE else ()
    if mistake.code is HostCode.STREAM_RACE:
        for role in ("earlier", "later"):
            details[role] = (_use(str(details[role]), str(details.pop(f"{role}_use"))),)
        elsewhere = other_line is not None and other_line != line
        details["there"] = (Clause("there-on-line", (("line", other_line or 0),)),) if elsewhere else ()
    if mistake.code is HostCode.COPY_TOO_LARGE:
        size, copied = int(str(details["size"])), int(str(details["bytes"]))
        details["guess"] = (Clause("elements-for-bytes"),) if copied in (4 * size, 8 * size) else ()
    return tuple(details.items())


def _use(kernel: str, use: str) -> Clause:
    """Use that a piece of work makes of memory: a kernel has a name, a copy has none."""
    return Clause(f"kernel-{use}", (("name", kernel),)) if kernel else Clause(f"copy-{use}")


_AMOUNTS = tuple(
    f.name for f in fields(LineCounters) if f.name not in ("line", "array") and "stride" not in f.name
)
"""Fields of a line that are added up; its strides are those of the first launch that has one."""


def kernel_counters(launches: Iterable[KernelRun], file: str) -> tuple[KernelCounters, ...]:
    """Counters of each kernel over all of these launches, in the order in which they come first."""
    by_name: defaultdict[str, list[KernelRun]] = defaultdict(list)
    for launched in launches:
        by_name[read_name(launched.kernel).name].append(launched)
    return tuple(
        KernelCounters(
            name,
            len(of_kernel),
            sums(launched.run.counters for launched in of_kernel),
            _merged_lines(line for launched in of_kernel for line in launched.run.lines),
            file,
        )
        for name, of_kernel in by_name.items()
    )


def sums(counters: Iterable[Counters]) -> Counters:
    """The sum of all counters, field by field."""
    amounts = list(counters)
    return Counters(**{f.name: sum(getattr(one, f.name) for one in amounts) for f in fields(Counters)})


def _merged_lines(lines: Iterable[LineCounters]) -> tuple[LineCounters, ...]:
    """The counters of several launches, one for each line and array."""
    merged: dict[tuple[int, str], LineCounters] = {}
    for line in lines:
        first = merged.get((line.line, line.array))
        if first is None:
            merged[line.line, line.array] = line
            continue
        amounts = {name: getattr(first, name) + getattr(line, name) for name in _AMOUNTS}
        merged[line.line, line.array] = replace(
            first,
            **amounts,
            global_stride=first.global_stride or line.global_stride,
            shared_stride=first.shared_stride or line.shared_stride,
        )
    return tuple(merged.values())
