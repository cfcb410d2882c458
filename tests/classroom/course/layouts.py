"""Downloads as the platforms write them: the documented names, with files of a few students in each."""

from __future__ import annotations

from tests.grading.submission.packing import zipped

KERNEL = b"__global__ void k() {}\n"
HEADER = b"#pragma once\n"
IN_ZIP = zipped({"homework/kernel.cu": KERNEL, "homework/tile.h": HEADER})
LONG = "María del Carmen de los Ángeles Fernández y González de la Torre"
RECEIPT = (
    b"Name: Grace Hopper (grace_h)\r\nAssignment: HW3\r\nDate Submitted: Sunday, November 1, 2026\r\n\r\n"
    b"Current Grade: Not graded yet\r\n"
)
METADATA = b"""---
submission_101:
  :submitters:
  - :name: Ada Lovelace
    :sid: '4711'
    :email: ada@example.edu
  - :name: Grace Hopper
    :sid: '4712'
    :email: grace@example.edu
  :created_at: 2026-11-01 10:00:00.000000000 Z
  :score: 85.0
  :status: processed
  :history:
  - :created_at: 2026-10-31 09:00:00 Z
    :score: 10.0
submission_102:
  :submitters:
  - :name: Linus Pauling
    :sid:
    :email: linus@example.edu
  :created_at: 2026-11-02 23:59:59 Z
"""

PUSHED = (
    b"assignment_name,assignment_url,starter_code_url,github_username,roster_identifier,student_repository_name,"
    b"student_repository_url,submission_timestamp,points_awarded,points_available,group_name\r\n"
    b"HW3,u,s,ada-l,ada@example.edu,hw3-ada-l,r,2026-11-01T10:00:00Z,0,100,\r\n"
    b"HW3,u,s,grace,4712,uni/hw3-team-12,r,2026-11-02T10:00:00Z,0,100,Team 12\r\n"
    b'HW3,u,s,linus,"4713",uni/hw3-team-12,r,2026-11-02T10:00:00Z,0,100,Team 12\r\n'
    b"HW3,u,s,marie,4714,,r,,0,100,\r\n"
)

LAYOUTS: dict[str, dict[str, bytes]] = {
    "moodle-folders": {
        "Ada Lovelace_12345_assignsubmission_file/kernel.cu": KERNEL,
        "Ada Lovelace_12345_assignsubmission_file/tile.h": HEADER,
        "Ada Lovelace_12345_assignsubmission_onlinetext/onlinetext.html": b"<p>hello</p>",
        "Grace Hopper_54321_assignsubmission_file/all.zip": IN_ZIP,
        f"{LONG}_77001_assignsubmission_file/kernel.cu": KERNEL,
        f"{LONG}_77002_assignsubmission_file/kernel.cu": KERNEL,
        "O'Neill, Shaun_333_assignsubmission_file/kernel.cu": KERNEL,
        "O'Neill, Shaun_333_assignfeedback_file/report.pdf": b"%PDF-",
    },
    "moodle-old": {
        "Ada Lovelace_12345_assignsubmission_file_/kernel.cu": KERNEL,
        "Grace Hopper_54321_assignsubmission_file_/src/kernel.cu": KERNEL,
    },
    "moodle-flat": {
        "Ada Lovelace_12345_assignsubmission_file_kernel.cu": KERNEL,
        "Ada Lovelace_12345_assignsubmission_file_tile.h": HEADER,
        "Grace Hopper_54321_assignsubmission_file_my_last.zip": IN_ZIP,
        "Grace Hopper_54321_assignsubmission_onlinetext_onlinetext.html": b"<p>hello</p>",
    },
    "moodle-blind": {
        "Participant_12345_assignsubmission_file_/kernel.cu": KERNEL,
        "Participant_54321_assignsubmission_file_/kernel.cu": KERNEL,
    },
    "moodle-teams": {
        "Team 12_77_assignsubmission_file/kernel.cu": KERNEL,
        "Team 13_78_assignsubmission_file/kernel.cu": KERNEL,
        "Default group_assignsubmission_file/kernel.cu": KERNEL,
    },
    "moodle-names-in-names": {
        "Ada Lovelace_12345_assignsubmission_file_x_54321_assignsubmission_file_kernel.cu": KERNEL,
        "Grace Hopper_54321_assignsubmission_file_kernel.cu": KERNEL,
    },
    "moodle-one-name": {
        "Anna Schmidt_12345_assignsubmission_file/kernel.cu": KERNEL,
        "Anna Schmidt_54321_assignsubmission_file/kernel.cu": KERNEL,
    },
    "moodle-feedback-only": {
        "Ada Lovelace_12345_assignsubmission_file/kernel.cu": KERNEL,
        "Grace Hopper_54321_assignfeedback_file/report.pdf": b"%PDF-",
    },
    "moodle-text-only": {
        "Ada Lovelace_12345_assignsubmission_file/kernel.cu": KERNEL,
        "Grace Hopper_54321_assignsubmission_onlinetext/onlinetext.html": b"<p>__global__</p>",
    },
    "moodle-one-number": {
        "Ada Lovelace_12345_assignsubmission_file/kernel.cu": KERNEL,
        "Grace Hopper_12345_assignsubmission_file/kernel.cu": KERNEL,
    },
    "canvas": {
        "lovelaceada_12345_678901_kernel.cu": KERNEL,
        "lovelaceada_12345_678902_tile.h": HEADER,
        "mullerboris_LATE_12346_678903_kernel.cu": KERNEL,
        "hoppergrace_12347_678904_matmul-1.cu": b"// the older one\n",
        "hoppergrace_12347_678905_matmul-2.cu": KERNEL,
        "hoppergrace_12347_678906_tile-1.h": HEADER,
        "paulinglinus_12348_678907_report.pdf": b"%PDF-",
        "curiemarie_12349_678908_kernel.cu": KERNEL,
        "curiemarie_12349_text.html": b"<p>my comment</p>",
    },
    "canvas-anonymous": {
        "anon_a1B2c_67890_tiled.cu": KERNEL,
        "anon_LATE_x9Y8z_67891_tiled.cu": KERNEL,
    },
    "canvas-texts": {
        "lovelaceada_12345_678901_kernel.cu": KERNEL,
        "hoppergrace_12347_question_12_text.html": b"<p>text</p>",
        "curiemarie_12349_link.html": b"<a>",
    },
    "gradescope": {
        "assignment_77_export/submission_101/kernel.cu": KERNEL,
        "assignment_77_export/submission_101/tile.h": HEADER,
        "assignment_77_export/submission_102/all.zip": IN_ZIP,
        "assignment_77_export/submission_metadata.yml": METADATA,
        "assignment_77_export/.DS_Store": b"x",
        "__MACOSX/assignment_77_export/._submission_metadata.yml": b"x",
    },
    "blackboard": {
        "HW3_ada_attempt_2026-10-31-10-00-00_kernel.cu": b"// the older one\n",
        "HW3_ada_attempt_2026-10-31-10-00-00.txt": RECEIPT.replace(
            b"Grace Hopper (grace_h)", b"Ada Lovelace (ada)"
        ),
        "HW3_ada_attempt_2026-11-01-10-00-00_kernel.cu": KERNEL,
        "HW3_ada_attempt_2026-11-01-10-00-00.txt": RECEIPT.replace(
            b"Grace Hopper (grace_h)", b"Ada Lovelace (ada)"
        ),
        "HW3_grace_h_attempt_2026-11-01-12-30-00_kernel.cu": KERNEL,
        "HW3_grace_h_attempt_2026-11-01-12-30-00.txt": RECEIPT,
        "HW3_linus_attempt_2026-11-01-12-30-00_kernel.cu": KERNEL,
    },
    "blackboard-last-without-a-file": {
        "HW3_ada_attempt_2026-10-31-10-00-00_kernel.cu": KERNEL,
        "HW3_ada_attempt_2026-10-31-10-00-00.txt": b"",
        "HW3_ada_attempt_2026-11-01-10-00-00.txt": b"I meant the other file",
        "HW3_grace_attempt_2026-11-01-12-30-00_kernel.cu": KERNEL,
    },
    "brightspace": {
        "index.html": b"<html>",
        "12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM/kernel.cu": b"// the older one\n",
        "12345-67890 - Ada Lovelace - Nov 1, 2026 845 PM/kernel.cu": KERNEL,
        "12346-67890 - Jean-Luc Picard - Oct 31, 2026 1145 PM/kernel.cu": KERNEL,
    },
    "brightspace-flat": {
        "index.html": b"<html>",
        "12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM - kernel.cu": KERNEL,
        "12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM - tile.h": HEADER,
        "12346-67890 - Grace Hopper - Nov 1, 2026 1001 AM - kernel.cu": KERNEL,
    },
    "brightspace-another-language": {
        "12345-67890 - Ada Lovelace - 1. November 2026 1000/kernel.cu": KERNEL,
        "12345-67890 - Ada Lovelace - 2. November 2026 1000/kernel.cu": KERNEL,
        "12346-67890 - Grace Hopper - 1. November 2026 1000/kernel.cu": KERNEL,
    },
    "brightspace-one-time-in-another-language": {
        "12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM/kernel.cu": KERNEL,
        "12345-67890 - Ada Lovelace - 2. November 2026 1000/kernel.cu": KERNEL,
        "12346-67890 - Grace Hopper - Nov 1, 2026 1000 AM/kernel.cu": KERNEL,
    },
    "brightspace-one-number": {
        "12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM/kernel.cu": KERNEL,
        "12345-67890 - Grace Hopper - Nov 1, 2026 1001 AM/kernel.cu": KERNEL,
    },
    "sakai": {
        "HW3/grades.csv": b"x",
        "HW3/Lovelace, Ada(ada)/Submission attachment(s)/kernel.cu": KERNEL,
        "HW3/Lovelace, Ada(ada)/timestamp.txt": b"20261101100000",
        "HW3/Lovelace, Ada(ada)/comments.txt": b"",
        "HW3/Lovelace, Ada(ada)/Feedback Attachment(s)/old.pdf": b"%PDF-",
        "HW3/Hopper, Grace(grace)/Submission attachment(s)/kernel.cu": KERNEL,
        "HW3/Hopper, Grace(grace)/timestamp.txt": b"20261101100000",
    },
    "ilias": {
        "HW3/Abgaben/Lovelace_Ada_ada_4711/kernel.cu": KERNEL,
        "HW3/Abgaben/Hopper_Grace_grace.h_4712/kernel.cu": KERNEL,
        "HW3/status.xlsx": b"PK",
    },
    "ilias-teams": {
        "HW3/Abgaben/Team 12/Lovelace_Ada_ada_4711/kernel.cu": KERNEL,
        "HW3/Abgaben/Team 12/Hopper_Grace_grace.h_4712/tile.h": HEADER,
        "HW3/Abgaben/Team 13/Curie_Marie_marie_4713/kernel.cu": KERNEL,
    },
    "github-classroom": {
        "hw3-submissions/hw3-ada-l/kernel.cu": KERNEL,
        "hw3-submissions/hw3-ada-l/README.md": b"# hello",
        "hw3-submissions/hw3-ada-l/.github/workflows/classroom.yml": b"on: push",
        "hw3-submissions/hw3-grace/src/kernel.cu": KERNEL,
        "hw3-submissions/grades.csv": b"x",
    },
    "github-classroom-with-times": {
        "hw3-submissions/hw3-ada-l/kernel.cu": KERNEL,
        "hw3-submissions/hw3-ada-l/.git/HEAD": b"ref: refs/heads/main",
        "hw3-submissions/hw3-team-12/kernel.cu": KERNEL,
        "hw3-submissions/hw3-eve/kernel.cu": KERNEL,
        "grades.csv": PUSHED,
    },
    "github-classroom-by-its-list": {
        "hw3-ada-l/kernel.cu": KERNEL,
        "hw3-team-12/kernel.cu": KERNEL,
        "grades.csv": PUSHED,
    },
    "classroom-50": {
        "gpu-hw3-ada/kernel.cu": KERNEL,
        "gpu-hw3-grace/kernel.cu": KERNEL,
    },
    "artemis": {
        "CS101HW3-ada/kernel.cu": KERNEL,
        "CS101HW3-grace/src/kernel.cu": KERNEL,
        "CS101HW3-grace/README.md": b"x",
    },
    "gitlab-this-level": {"ada/kernel.cu": KERNEL, "grace/kernel.cu": KERNEL, "README.md": b"x"},
    "gitlab-one-level-up": {
        "hw3/ada/kernel.cu": KERNEL,
        "hw3/grace/kernel.cu": KERNEL,
        "docs/notes.md": b"x",
    },
    "gitlab-several-assignments": {
        "hw2/ada/kernel.cu": b"// another\n",
        "hw2/grace/kernel.cu": b"// another\n",
        "the-assignment/ada/kernel.cu": KERNEL,
        "the-assignment/grace/kernel.cu": KERNEL,
    },
    "gitlab-unknown-level": {
        "hw2/ada/kernel.cu": KERNEL,
        "hw2/grace/kernel.cu": KERNEL,
        "hw3/ada/kernel.cu": KERNEL,
        "hw3/grace/kernel.cu": KERNEL,
    },
    "nbgrader": {
        "submitted/ada/hw3/kernel.cu": KERNEL,
        "submitted/ada/hw3/timestamp.txt": b"2026-11-01 10:00:00 UTC",
        "submitted/grace/hw3/kernel.cu": KERNEL,
    },
    "nbgrader-several": {
        "submitted/ada/hw2/kernel.cu": b"// another\n",
        "submitted/ada/the-assignment/kernel.cu": KERNEL,
        "submitted/grace/the-assignment/kernel.cu": KERNEL,
    },
    "teams": {
        "Submitted files/Ada Lovelace/HW3/Version 1/kernel.cu": b"// the older one\n",
        "Submitted files/Ada Lovelace/HW3/Version 2/kernel.cu": KERNEL,
        "Submitted files/Grace Hopper/HW3/kernel.cu": KERNEL,
        "Working files/Ada Lovelace/HW3/kernel.cu": b"// a draft\n",
    },
    "google-drive": {
        "Ada Lovelace - tiled.cu": KERNEL,
        "Grace Hopper - tiled.cu": KERNEL,
    },
    "google-drive-copies": {"tiled.cu": KERNEL, "tiled (1).cu": KERNEL, "tiled (2).cu": KERNEL},
    "attempts": {
        "ada/attempt1/kernel.cu": b"// the older one\n",
        "ada/attempt10/kernel.cu": KERNEL,
        "ada/attempt2/kernel.cu": b"// the older one\n",
        "grace/2026-11-01/kernel.cu": b"// the older one\n",
        "grace/2026-11-02/kernel.cu": KERNEL,
    },
    "attempts-in-doubt": {
        "ada/attempt1/kernel.cu": KERNEL,
        "ada/attempt2/report.pdf": b"%PDF-",
        "grace/2026-11-01/kernel.cu": KERNEL,
        "grace/2026-11-01 old/kernel.cu": KERNEL,
        "linus/kernel.cu": KERNEL,
    },
    "plain-other-endings": {
        "ada.cu": KERNEL,
        "grace.html": b"<pre>__global__</pre>",
        "linus.md": b"```",
        "index.html": b"x",
    },
    "plain-files": {"ada.cu": KERNEL, "grace.zip": IN_ZIP, "README.md": b"x", "roster.csv": b"x"},
    "plain-folders": {
        "ada/kernel.cu": KERNEL,
        "ada/tile.h": HEADER,
        "grace/build/CMakeCache.txt": b"x",
        "grace/src/kernel.cu": KERNEL,
        "linus/report.pdf": b"%PDF-",
        "marie/a/kernel.cu": KERNEL,
        "marie/b/kernel.cu": KERNEL,
        "notes.docx": b"x",
        ".git/config": b"x",
    },
    "plain-clashes": {
        "ada.cu": KERNEL,
        "ada/kernel.cu": KERNEL,
        "Grace.cu": KERNEL,
        "grace.cpp": KERNEL,
        "linus.cu": KERNEL,
    },
}
