"""`grader grade --cluster`: the options, and the executor that they ask for."""

from __future__ import annotations

import argparse
import secrets
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from grader import processors
from grader.assignment import find_assignment
from grader.batch import OutFolder
from grader.cli import arguments, setup
from grader.cluster import schedulers
from grader.cluster.address import is_address
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.batch import Executor
    from grader.model import Assignment

_NODES = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of a cluster."""
    parser.add_argument(
        "--cluster",
        metavar="WHERE",
        type=_where,
        default=None,
        help="grade on several machines with Dask: `slurm`, a scheduler's address such as tcp://HOST:8786, "
        "or `local`",
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=arguments.positive,
        default=None,
        help=f"with --cluster slurm: jobs that each grade -j submissions at a time (default: {_NODES})",
    )


def _where(text: str) -> str:
    if text not in (schedulers.LOCAL, schedulers.SLURM) and not is_address(text):
        raise argparse.ArgumentTypeError("expected `slurm`, `local` or an address such as tcp://HOST:8786")
    return text


def must_be_meant(options: argparse.Namespace) -> None:
    """Raise UsageError where an option is given that the cluster which is asked for does not read."""
    if options.nodes is not None and options.cluster != schedulers.SLURM:
        where = f"--cluster {options.cluster}" if options.cluster else "no --cluster"
        raise UsageError(f"--nodes {options.nodes} is for --cluster slurm, and this is {where}; leave it out")
    if options.jobs is not None and options.cluster and is_address(options.cluster):
        raise UsageError(
            f"--jobs {options.jobs}: how many submissions a worker of {options.cluster} takes at a time is "
            f"said where it is started, with `--nthreads {options.jobs}`; leave --jobs out"
        )


@contextmanager
def executor(options: argparse.Namespace, assignment: Assignment, number: int) -> Iterator[Executor]:
    """The nodes of the cluster that is asked for; see `grader.cluster.placing`."""
    schedulers.must_be_installed(options.cluster)
    from grader.cluster import node, placing  # noqa: PLC0415 - an extra

    request = node.GradingRequest(
        key=secrets.token_hex(8),
        parcel=node.packed(find_assignment(options.assignment), assignment),
        number=number,
        trusted=options.i_trust_these_files,
        backend=options.backend,
        races=options.races,
        sandbox=options.sandbox,
        nvcc=options.nvcc,
        keeps_builds=not options.no_cache,
        versions=node.versions(),
    )
    earlier = None
    with suppress(UsageError):  # of a folder that is none: said when it is locked
        earlier = OutFolder(options.out).session()
    say = partial(setup.console(stderr=True).print, soft_wrap=True)
    jobs = options.jobs or processors.available()
    where = schedulers.scheduler(
        options.cluster, nodes=options.nodes or _NODES, jobs=jobs, folder=options.out
    )
    with where as cluster, placing.on_cluster(cluster, request, earlier, say) as graded:
        if cluster.dashboard:
            say(f"dashboard: {cluster.dashboard}")
        yield graded
