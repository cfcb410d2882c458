"""The command line: parse, call, print, exit code.

Exit codes: 0 full marks (`check`) or batch completed (`grade`); 1 below full marks or `--fail-under`;
2 usage or a wrong assignment; 3 our own fault.
"""

from grader.base.search_paths import leave_out_working_folder

leave_out_working_folder()  # before anything else is imported

from grader.cli.main import main  # noqa: E402 - see above

__all__ = ["main"]
