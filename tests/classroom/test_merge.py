"""Parts of a class that were graded apart become one gradebook; what does not belong together is refused."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from grader.base.errors import UsageError
from grader.classroom.batch import BatchSession, OutFolder
from grader.classroom.batch.journal import first_line
from grader.cli import setup
from grader.cli.main import main
from tests.documents import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUDENTS = ("ada", "boris", "chidi", "dolores", "emil")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five students' sheets of answers, which are graded in no time."""
    folder = tmp_path_factory.mktemp("class")
    for number, student in enumerate(STUDENTS):
        answers = {"bytes-read": 64_704, "bytes-written": 9_460, "blocks-x": 75 + number}
        sheet = "".join(f"  {name}: {value}\n" for name, value in answers.items())
        (folder / f"{student}.yaml").write_text(f"student: {student}\nanswers:\n{sheet}")
    return folder


def graded(folder: Path, out: Path, *options: str) -> int:
    """The exit code of `grade`."""
    return main(["grade", "memory-analysis", str(folder), "-o", str(out), *options])


def merged(*folders: Path) -> int:
    """The exit code of `merge` into the last folder."""
    return main(["merge", *map(str, folders[:-1]), "-o", str(folders[-1])])


def shards(folder: Path, where: Path, of: int, *options: str) -> list[Path]:
    """The folders of all shards, graded one after the other."""
    outs = [where / f"shard-{number}" for number in range(1, of + 1)]
    for number, out in enumerate(outs, 1):
        assert graded(folder, out, "--shard", f"{number}/{of}", *options) == 0
    return outs


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_become_the_gradebook_of_one_machine(of: int, handed_in: Path, tmp_path: Path) -> None:
    """With any number of them, even more than students, the class's files are the same, byte for byte."""
    assert graded(handed_in, tmp_path / "whole") == 0
    assert merged(*shards(handed_in, tmp_path, of), tmp_path / "all") == 0
    for name in ("gradebook.csv", "junit.xml", "index.html", "import.json"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert OutFolder(tmp_path / "all").finished() == OutFolder(tmp_path / "whole").finished()


def test_a_merged_class_is_gone_on_with(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`grade` on the whole class finds all of it done."""
    assert merged(*shards(handed_in, tmp_path, 2), tmp_path / "all") == 0
    assert graded(handed_in, tmp_path / "all") == 0
    assert "5 of 5 were graded before" in capsys.readouterr().out


def test_merging_again_takes_what_was_graded_again(handed_in: Path, tmp_path: Path) -> None:
    """A part that has changed is merged into the same folder once more."""
    parts = shards(handed_in, tmp_path, 2)
    assert merged(*parts, tmp_path / "all") == 0
    (tmp_path / "all/grades/ada/grade.json").write_text("{}")
    assert merged(*parts, tmp_path / "all") == 0
    assert json.loads((tmp_path / "all/grades/ada/grade.json").read_text())["submission"]["id"] == "ada"


def test_shards_that_were_rescored_are_still_shards_of_one_class(handed_in: Path, tmp_path: Path) -> None:
    """The journal that is written anew has it, too."""
    parts = shards(handed_in, tmp_path, 2)
    for part in parts:
        assert main(["rescore", str(part)]) == 0
    assert merged(*parts, tmp_path / "all") == 0


def test_two_sections_become_one_class(handed_in: Path, tmp_path: Path) -> None:
    """Classes that were handed in apart, graded with one seed; the tables of both imports are kept."""
    for section, students in (("a", STUDENTS[:2]), ("b", STUDENTS[2:])):
        (tmp_path / section).mkdir()
        for student in students:
            os.link(handed_in / f"{student}.yaml", tmp_path / section / f"{student}.yaml")
        assert graded(tmp_path / section, tmp_path / f"out-{section}") == 0
    assert merged(tmp_path / "out-a", tmp_path / "out-b", tmp_path / "all") == 0
    assert OutFolder(tmp_path / "all").submissions() == STUDENTS
    tables = [json.loads((tmp_path / "all" / name).read_text()) for name in ("import.json", "import-2.json")]
    assert [len(table["submissions"]) for table in tables] == [2, 3]


def test_shards_that_name_no_student_become_a_class_that_names_no_student(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pseudonyms stay, who is who is known of all of them, and nothing has to be graded again."""
    assert merged(*shards(handed_in, tmp_path, 2, "--anonymous"), tmp_path / "all") == 0
    people = json.loads((tmp_path / "all/private/identities.json").read_text())["people"]
    assert sorted(person["submission"] for person in people) == list(STUDENTS)
    named = [path for path in (tmp_path / "all").rglob("*") if path.is_file() and "private" not in path.parts]
    assert not [path for path in named if b"dolores" in path.read_bytes()]
    assert graded(handed_in, tmp_path / "all") == 0
    assert "5 of 5 were graded before" in capsys.readouterr().out


def test_decisions_of_staff_are_kept(handed_in: Path, tmp_path: Path) -> None:
    """Adjustments of every shard stand in the merged class, and count when it is graded again."""
    decisions = tmp_path / "decisions.yaml"
    decisions.write_text("students:\n  boris:\n    score: 7\n    comment: seen\n    by: lena\n")
    parts = shards(handed_in, tmp_path, 2, "--adjustments", str(decisions))
    assert merged(*parts, tmp_path / "all") == 0
    assert (tmp_path / "all/adjustments.yaml").read_bytes() == decisions.read_bytes()
    (row,) = [line for line in (tmp_path / "all/gradebook.csv").read_text().splitlines() if "boris" in line]
    assert ",7," in row


def test_a_student_of_another_shard_is_no_stranger(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decision about a student whom another shard grades is not reported as one about no student."""
    decisions = tmp_path / "decisions.yaml"
    decisions.write_text("students:\n  boris:\n    score: 7\n    comment: seen\n    by: lena\n")
    shards(handed_in, tmp_path, 5, "--adjustments", str(decisions))
    assert "no submission is known as" not in capsys.readouterr().err


def test_what_does_not_belong_together_is_refused(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence each with exit code 2, and no folder is made."""
    one, two = shards(handed_in, tmp_path, 2)
    other = tmp_path / "another-download"
    other.mkdir()
    (other / "zoe.yaml").write_bytes((handed_in / "ada.yaml").read_bytes())
    assert graded(handed_in, tmp_path / "whole") == 0
    assert graded(other, tmp_path / "elsewhere", "--shard", "2/2") == 0
    assert graded(handed_in, tmp_path / "thirds", "--shard", "2/3") == 0
    assert graded(handed_in, tmp_path / "again", "--shard", "1/2") == 0
    assert graded(handed_in, tmp_path / "seed", "--shard", "2/2", "--seed", "99") == 0
    assert graded(handed_in, tmp_path / "nameless", "--shard", "2/2", "--anonymous") == 0
    (tmp_path / "roster.csv").write_text(
        "id,name\n" + "".join(f"{name},{name.title()}\n" for name in STUDENTS)
    )
    roster = ("--roster", str(tmp_path / "roster.csv"))
    assert graded(handed_in, tmp_path / "known", "--shard", "2/2", *roster) == 0
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    journal = (two / "journal.jsonl").read_text().splitlines(keepends=True)
    (unfinished / "journal.jsonl").write_text("".join(journal[:-1]))
    missing = tmp_path / "missing"
    missing.mkdir()
    (missing / "journal.jsonl").write_text("".join(journal))
    capsys.readouterr()
    cases: list[tuple[tuple[Path, ...], str]] = [
        ((one,), "shard `2/2` is missing"),
        ((one, tmp_path / "again", two), "both hold shard 1/2"),
        ((one, tmp_path / "whole"), "holds shard 1/2, and"),
        ((one, tmp_path / "elsewhere"), "are of different classes"),
        ((one, tmp_path / "known"), "from the same download, and with the same --roster"),
        ((one, tmp_path / "thirds"), "shards of different cuts of the class: 1/2 and 2/3"),
        ((one, tmp_path / "nameless"), "only one of them has pseudonyms"),
        ((one, tmp_path / "seed"), "differ in seed ("),
        ((one, unfinished), "has not come to its end"),
        ((one, missing), "the grade of `boris` and `dolores` is missing or damaged"),
        ((one, tmp_path / "nothing"), "no grades here"),
    ]
    for parts, message in cases:
        assert merged(*parts, tmp_path / "all") == 2, message
        output = capsys.readouterr().err
        assert message in output
        assert output.count("\n") == 1
    assert not (tmp_path / "nothing").exists()
    assert not (tmp_path / "all").exists()


def test_what_parts_differ_in_is_reported_in_plain_words(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two assignments their names, of two versions of one the first digits of its digests."""
    assert graded(handed_in, tmp_path / "one") == 0
    journal = (tmp_path / "one/journal.jsonl").read_text()
    first = json.loads(journal.splitlines()[0])["session"]
    digest = first["assignment_digest"]
    for changed, message in (
        ({"assignment": "other", "assignment_digest": "0" * 64}, "assignment (memory-analysis → other)"),
        ({"assignment_digest": "0" * 64}, f"assignment's files ({digest[:12]} → 000000000000)"),
        ({"device": "NVIDIA H200"}, "device (none → NVIDIA H200)"),
    ):
        (tmp_path / "two").mkdir(exist_ok=True)
        session = first_line(BatchSession(**(first | changed)))
        (tmp_path / "two/journal.jsonl").write_text(session + "\n" + journal.partition("\n")[2])
        for folder in (tmp_path / "one/grades").iterdir():
            shutil.copytree(folder, tmp_path / "two/grades" / folder.name, dirs_exist_ok=True)
        capsys.readouterr()
        assert merged(tmp_path / "one", tmp_path / "two", tmp_path / "all") == 2
        assert capsys.readouterr().err.endswith(
            f"{tmp_path / 'two'} differ in {message}; grade one of them again as the other was\n"
        )


def test_a_class_whose_students_are_in_two_parts_is_refused(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command does not guess whose grade counts, under pseudonyms either."""
    for options in ((), ("--anonymous",)):
        one, two = (tmp_path / f"{name}{len(options)}" for name in "ab")
        assert graded(handed_in, one, *options) == 0
        assert graded(handed_in, two, *options) == 0
        assert merged(one, two, tmp_path / "all") == 2
        message = (
            f"`ada`, `boris`, `chidi`, `dolores` and `emil` are in {one} and in {two}; leave one of them out"
        )
        assert message in capsys.readouterr().err


def test_parts_may_be_such_as_can_only_be_read(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be another user's, or on another machine's disk: nothing is opened there to be written."""
    parts = shards(handed_in, tmp_path, 2)
    opened: Callable[..., object] = type(tmp_path).open

    def refuse(path: Path, mode: str = "r", *options: int, **named: str) -> object:
        if set(mode) & set("wax+") and any(path.is_relative_to(part) for part in parts):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(path, mode, *options, **named)

    monkeypatch.setattr(type(tmp_path), "open", refuse)
    assert merged(*parts, tmp_path / "all") == 0


def test_a_part_that_is_being_graded_is_waited_for(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of it would be merged."""
    parts = shards(handed_in, tmp_path, 2)
    capsys.readouterr()
    with OutFolder(parts[1]).locked():
        assert merged(*parts, tmp_path / "all") == 2
    assert f"{parts[1]}: another grader is writing here; wait for it\n" in capsys.readouterr().err


def test_other_grades_are_not_written_over(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder for the whole class holds nothing, or an earlier merge: a part's own folder will not do."""
    parts = shards(handed_in, tmp_path, 2)
    assert graded(handed_in, tmp_path / "other", "--seed", "99") == 0
    capsys.readouterr()
    assert merged(*parts, tmp_path / "other") == 2
    assert "holds other grades: they differ in seed (99 → " in capsys.readouterr().err
    assert merged(*parts, parts[0]) == 2
    assert f"{parts[0]} is one of the parts; choose another folder with -o" in capsys.readouterr().err
    assert merged(*parts, parts[0] / "grades") == 2
    message = (
        f"{parts[0] / 'grades'} lies in {parts[0]}, which is one of the parts; choose another folder with -o"
    )
    assert message in capsys.readouterr().err
    assert OutFolder(parts[0]).submissions() == ("ada", "chidi", "emil")


@pytest.mark.parametrize(("first", "then"), [((), ("--anonymous",)), (("--anonymous",), ())])
def test_a_class_without_names_is_not_merged_over_one_with_names(
    first: tuple[str, ...],
    then: tuple[str, ...],
    handed_in: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nor the other way round: names would stay beside pseudonyms in a folder that is to hold none."""
    assert graded(handed_in, tmp_path / "all", *first) == 0
    parts = shards(handed_in, tmp_path, 2, *then)
    before = sorted(path for path in (tmp_path / "all").rglob("*") if path.name != ".lock")
    capsys.readouterr()
    assert merged(*parts, tmp_path / "all") == 2
    named, nameless = (parts[0], tmp_path / "all") if first else (tmp_path / "all", parts[0])
    message = f"{named} has names, and {nameless} pseudonyms; choose another folder with -o"
    assert message in capsys.readouterr().err
    assert sorted(path for path in (tmp_path / "all").rglob("*") if path.name != ".lock") == before


def test_who_is_in_no_part_any_more_is_reported(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `grade` does, whose grade is moved out of the class is named."""
    assert graded(handed_in, tmp_path / "all") == 0
    (tmp_path / "fewer").mkdir()
    for student in STUDENTS[:3]:
        os.link(handed_in / f"{student}.yaml", tmp_path / "fewer" / f"{student}.yaml")
    parts = shards(tmp_path / "fewer", tmp_path, 2)
    capsys.readouterr()
    assert merged(*parts, tmp_path / "all") == 0
    assert f"moved to {tmp_path}/all/removed: `dolores` and `emil`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("named", "message"),
    [("nope", "no assignment `nope`"), ("vector-add", "what was graded is `memory-analysis`")],
)
def test_an_assignment_that_is_named_and_is_not_the_one_is_refused(
    named: str, message: str, handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence, before anything is written."""
    parts = shards(handed_in, tmp_path, 2)
    capsys.readouterr()
    command = ["merge", *map(str, parts), "-o", str(tmp_path / "all"), "--assignment", named]
    assert main(command) == 2
    output = capsys.readouterr().err
    assert message in output
    assert output.count("\n") == 1
    assert not (tmp_path / "all").exists()


def test_parts_are_merged_where_their_assignment_is_not(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a machine that only puts grades together: similar submissions are not looked for, and why."""
    parts = shards(handed_in, tmp_path, 2)

    def find_none(name: str, _: str) -> Path:
        raise UsageError(f"no assignment `{name}`")

    monkeypatch.setattr(setup, "recorded_assignment", find_none)
    capsys.readouterr()
    assert merged(*parts, tmp_path / "all") == 0
    output = capsys.readouterr().err
    assert "similar submissions are not looked for: no assignment `memory-analysis`; name the " in output


def test_a_full_disk_is_reported_with_what_to_do(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words, without the system's numbers: which file could not be copied where, why, and a hint."""
    parts = shards(handed_in, tmp_path, 1)
    (tmp_path / "shard-1/grades/ada/large").write_bytes(bytes(500_000))
    capsys.readouterr()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, limits[1]))
    try:
        assert merged(*parts, tmp_path / "all") == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    message = (
        f"large: cannot be copied to {tmp_path}/all: File too large; free some space or choose another folder"
    )
    assert message in capsys.readouterr().err


def test_a_shard_is_not_graded_into_the_folder_of_another(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is a whole class: what is there would be moved out of the class."""
    (one, _) = shards(handed_in, tmp_path, 2)
    capsys.readouterr()
    assert graded(handed_in, one, "--shard", "2/2") == 2
    assert "holds shard 1/2, and this is shard 2/2; choose another folder" in capsys.readouterr().err
    assert graded(handed_in, one) == 2
    assert "holds shard 1/2, and this is a whole class" in capsys.readouterr().err


def test_shards_of_kernels_need_one_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each would draw its own: that is asked for before anything is read."""
    command = ["grade", "tiled-matmul", str(tmp_path), "-o", str(tmp_path / "out"), "--shard", "1/2"]
    assert main(command) == 2
    assert "--shard 1/2 needs --seed, the same for all 2 of them" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/2/3", "-1/2", "1/999999"])
def test_what_is_no_shard_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names what is expected."""
    with pytest.raises(SystemExit) as ended:
        main(["grade", "memory-analysis", "x", "-o", "y", f"--shard={text}"])
    assert ended.value.code == 2
    assert "expected a part and how many there are, such as 2/8" in capsys.readouterr().err


def test_a_job_of_the_array_in_the_documents_is_submitted_again_alone(
    handed_in: Path, tmp_path: Path
) -> None:
    """Slurm counts one job in it then, and it takes the same part of the class as it did among all."""
    (script,) = (block for block in blocks("docs/clusters.md", "bash") if "#SBATCH --array" in block)
    for written, tried in {
        "tiled-matmul": "memory-analysis",
        "submissions/": f"{handed_in}/",
        "grader grade": f"{sys.executable} -m grader grade",
    }.items():
        script = script.replace(written, tried)
    (tmp_path / "parts").mkdir()
    variables = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_CPUS_PER_TASK": "1"}
    for count in ("8", "1"):
        alone = os.environ | variables | {"SLURM_ARRAY_TASK_COUNT": count}
        subprocess.run(["/bin/bash", "-c", script], cwd=tmp_path, env=alone, check=True)
    session = OutFolder(tmp_path / "parts/3").graded_session()
    assert session.shard == "3/8"


def test_the_job_for_kubernetes_in_the_documents_grades_its_part(handed_in: Path, tmp_path: Path) -> None:
    """Its command, for two parts with the index that Kubernetes counts, and the volume in another folder."""
    (text,) = (block for block in blocks("docs/clusters.md", "yaml") if "kind: Job" in block)
    job = yaml.safe_load(text)["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert {v["name"] for v in container["volumeMounts"]} == {
        v["name"] for v in job["template"]["spec"]["volumes"]
    }
    shell, option, script = container["command"]
    assert f"$part/{job['completions']} " in script
    assert container["resources"]["limits"]["cpu"], "it sets how many submissions are graded at a time"
    (merging,) = re.findall("`(grader merge /class.*?)`", (ROOT / "docs/clusters.md").read_text("utf-8"))
    for written, tried in {
        f"/{job['completions']} ": "/2 ",
        "tiled-matmul": "memory-analysis",
        "/class/submissions": str(handed_in),
        "/class/": f"{tmp_path}/",
        "grader ": f"{sys.executable} -m grader ",
    }.items():
        script, merging = script.replace(written, tried), merging.replace(written, tried)
    for index in range(2):
        variables = os.environ | {"JOB_COMPLETION_INDEX": str(index)}
        subprocess.run([shell, option, script], env=variables, check=True)
    parts = sorted((tmp_path / "parts").iterdir())
    assert [part.name for part in parts] == ["1", "2"]
    subprocess.run([shell, option, merging], check=True)
    assert graded(handed_in, tmp_path / "whole", "--seed", "7") == 0
    assert (tmp_path / "out/gradebook.csv").read_bytes() == (tmp_path / "whole/gradebook.csv").read_bytes()
