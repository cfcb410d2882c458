"""`python -m grader` is `grader`."""

import sys

from grader.cli import main

sys.exit(main())
