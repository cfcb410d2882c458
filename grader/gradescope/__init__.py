"""An autograder for Gradescope: the zip that staff upload, and what it does there.

    archive    the zip: the grader, one assignment with the staff's files, pinned requirements, two scripts
    run        the whole of `run_autograder`: grade one submission, write results.json, whatever happens

In the container is no GPU, so kernels run on the emulator. The grader is root, and what students hand in is
compiled and run by somebody else, who can read nothing below ``/autograder/source``.
"""
