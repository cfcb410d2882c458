"""Grading a class on several machines, with Dask: it places work, and ours is what a node does with it.

    node       the code on a node: it proves itself, then grades one submission after the other
    nodes      the nodes that there are, and the fit ones among them
    placing    the placement of submissions on nodes, and recovery where one fails
    address    the address of a scheduler that another user started, and whether one answers there
    schedulers the sources of a scheduler: in this process, jobs of Slurm, or one that runs already

Scheduler and workers are trusted as this machine is: a task is code. Students' files are shut in on a node as
they are here.
"""

from grader.base.search_paths import leave_out_working_folder

leave_out_working_folder()  # on a node nothing else of ours is loaded before
