"""`grader grade --cluster`: the options, and the executor that they ask for."""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from grader.base import processors
from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder
from grader.classroom.cluster import schedulers
from grader.classroom.cluster.address import is_address
from grader.cli import setup
from grader.cli.options import NODES
from grader.grading.assignment import find_assignment

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from grader.classroom.batch import Executor
    from grader.model import Assignment


def require_cluster_options(options: argparse.Namespace) -> None:
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
    """The nodes of the cluster that is asked for; see `grader.classroom.cluster.placing`."""
    schedulers.must_be_installed(options.cluster)
    from grader.classroom.cluster import node, placing  # noqa: PLC0415 - an extra

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
    where = schedulers.scheduler(options.cluster, nodes=options.nodes or NODES, jobs=jobs, folder=options.out)
    with where as cluster, placing.on_cluster(cluster, request, earlier, say) as graded:
        if cluster.dashboard:
            say(f"dashboard: {cluster.dashboard}")
        yield graded
