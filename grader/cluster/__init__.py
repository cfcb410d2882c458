"""Grading a class on several machines, with Dask: it places work, and ours is what a node does with it.

    node       what runs on a node: it proves itself, then grades one submission after the other
    nodes      which nodes there are, and which of them are fit
    placing    what is given to which of them, and what becomes of it where one fails
    address    where a scheduler is that somebody else started, and whether one answers there
    schedulers where the scheduler comes from: in this process, jobs of Slurm, or one that runs already

Scheduler and workers are trusted as this machine is: a task is code. Students' files are shut in on a node as
they are here.
"""
