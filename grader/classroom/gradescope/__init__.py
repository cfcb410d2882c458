"""An autograder for Gradescope: the zip that staff upload, and what it does there.

    archive    the zip: the grader, one assignment with the staff's files, pinned requirements, two scripts
    run        the whole of `run_autograder`: grade one submission, write results.json in any case

In the container is no GPU, so kernels run on the emulator. The grader is root, and what students hand in is
compiled and run by another user, who can read nothing below ``/autograder/source``.
"""

from grader.base.search_paths import leave_out_working_folder

leave_out_working_folder()  # before anything else is imported
