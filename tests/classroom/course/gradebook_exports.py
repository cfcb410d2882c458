"""Exports of a small class, one for each platform, made by the headings that these document."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.classroom.course.gradebooks import Score
from grader.model import Student


@dataclass(frozen=True)
class Sample:
    """A platform's export, the scores that go into it, and the user's options."""

    content: bytes
    scores: tuple[Score, ...]
    title: str = ""
    column: str = ""


CLASS = (
    Student("Ada Lovelace", "12345", "S100", "ada", "ada@uni.example"),
    Student("Boris Müller", "12346", "S101", "boris", "boris@uni.example"),
    Student('Grace "Amazing" Hopper', "12347", "S102", "grace", "grace@uni.example"),
    Student("José Fernández y García", "12348", "S103", "jose", "jose@uni.example"),
    Student("Anna Schmidt", "12349", "S104", "anna1", "anna.1@uni.example"),
    Student("Anna Schmidt", "12350", "S105", "anna2", "anna.2@uni.example"),
    Student("Zoë Åström", "12351", "S106", "zoe", "zoe@uni.example"),
)
POINTS = (Fraction(171, 2), Fraction(100), Fraction(200, 3), Fraction(0), Fraction(369, 4), Fraction(40))

SCORES = (
    *(
        Score(student.login, (student,), (student.login,), points)
        for student, points in zip(CLASS, POINTS, strict=False)
    ),
    Score("zoe", (CLASS[6],), ("zoe",), Fraction(50), excused=True),
    Score("stray", (Student("Nobody Here", "99999", "S999", "stray"),), ("stray",), Fraction(10)),
)
"""The scores of the class: Zoë is excused, and one submission is of no student in the gradebook."""

BY_NAME = tuple(
    replace(score, students=tuple(Student(student.name) for student in score.students)) for score in SCORES
)
"""The same, where only names are known: there are two of one name."""

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Warm-up (4001),"Tiled matmul, part 1 (4002)",\
Assignments Current Score,Current Score,Final Score
,,,,,,,Manual Posting,,,
    Points Possible,,,,,,10,100,(read only),(read only),(read only)
"Lovelace, Ada",12345,S100,ada,"CS101, A",,9.5,,95,95,95
"Müller, Boris",12346,S101,boris,CS101,"says ""hi"", twice",8,100,80,80,80
"Hopper, Grace ""Amazing""\",12347,S102,grace,CS101,,,"70.00",0,0,0
"Fernández y García, José",12348,S103,jose,CS101,,10,,100,100,100
"Schmidt, Anna",12349,S104,anna1,CS101,,7,1,70,70,70
"Schmidt, Anna",12350,S105,anna2,CS102,,7,2,70,70,70
"Åström, Zoë",12351,S106,zoe,CS101,,,,0,0,0
"Noether, Emmy",12352,S107,emmy,CS101,,10,3.25,100,100,100
"=""=SUM(A1)""\",12353,S108,eve,CS101,,1,N/A,0,0,0
"Student, Test",20001,,f00ba4,CS101,,,5,0,0,0
"""

CANVAS_COMMA = """\
LastName;FirstName;ID;SIS Login ID;Section;Aufgabe 1 (4001);Current Score;Final Score
;    ;;;;;;
    Points Possible;;;;;100,00;(read only);(read only)
Lovelace;Ada;12345;ada@uni.example;A;;95,5;95,5
Müller;Boris;12346;boris@uni.example;A;12,5;80;80
Hopper;"Grace ""Amazing""\";12347;grace@uni.example;A;;80;80
Schmidt;Anna;12349;anna.1@uni.example;A;"92,25";80;80
Schmidt;Anna;12350;anna.2@uni.example;A;;80;80
Åström;Zoë;12351;zoe@uni.example;A;;80;80"""

MOODLE = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",\
"Last modified (submission)","Online text","Last modified (grade)","Feedback comments"
"Participant 12345","Ada Lovelace",ada@uni.example,"Submitted for grading - ",,100.00,Yes,\
"Monday, 2 November 2026, 10:00 AM","line one
line two, with a comma",-,
"Participant 12346","Boris Müller",boris@uni.example,"Submitted for grading - Graded",100.00,100.00,Yes,\
"Monday, 2 November 2026, 10:00 AM",,"Tuesday, 3 November 2026, 9:00 AM","well ""done""\"
"Participant 12347","Grace ""Amazing"" Hopper",grace@uni.example,"Submitted for grading - ",,100.00,Yes,-,,-,
"Participant 12348","José Fernández y García",jose@uni.example,"Submitted for grading - ",,100.00,Yes,-,,-,
"Participant 12349","Anna Schmidt",anna.1@uni.example,"Submitted for grading - ",,100.00,Yes,-,,-,
"Participant 12350","Anna Schmidt",anna.2@uni.example,"Submitted for grading - ",,100.00,No,-,,-,
"Participant 12351","Zoë Åström",zoe@uni.example,"Submitted for grading - ",,100.00,Yes,-,,-,
"Participant 12352","Emmy Noether",emmy@uni.example,"No submission",,100.00,Yes,-,,-,
"""

MOODLE_GERMAN = """\
ID;"Vollständiger Name";E-Mail-Adresse;Status;Bewertung;Bestwertung;"Bewertung kann geändert werden";\
"Zuletzt geändert (Abgabe)";"Zuletzt geändert (Bewertung)";"Feedback als Kommentar"
Teilnehmer/in12345;"Ada Lovelace";ada@uni.example;"Zur Bewertung abgegeben - ";;100,00;Ja;\
"Dienstag, 2. Dezember 2025, 10:37";-;
Teilnehmer/in12346;"Boris Müller";boris@uni.example;"Zur Bewertung";"90,00";100,00;Ja;-;-;"gut; so"
Teilnehmer/in12347;"Grace ""Amazing"" Hopper";grace@uni.example;"Zur Bewertung abgegeben - ";;100,00;Ja;-;-;
Teilnehmer/in12348;"José Fernández y García";jose@uni.example;"Zur Bewertung abgegeben - ";;100,00;Ja;-;-;
Teilnehmer/in12349;"Anna Schmidt";anna.1@uni.example;"Zur Bewertung abgegeben - ";;100,00;Ja;-;-;
Teilnehmer/in12350;"Anna Schmidt";anna.2@uni.example;"Zur Bewertung abgegeben - ";;100,00;Ja;-;-;
Teilnehmer/in12352;"Emmy Noether";emmy@uni.example;"Keine Abgabe";;100,00;Ja;-;-;
"""

MOODLE_FRENCH = """\
Identifiant,"Nom complet","Adresse de courriel",Statut,Groupe,Note,"Note maximale",\
"La note peut être modifiée","Dernière modification (travail remis)","Dernière modification (note)",\
"Feedback par commentaires"
Participant12345,"Ada Lovelace",ada@uni.example,"' -",A,,"100,00",Oui,-,-,
Participant12346,"Boris Müller",boris@uni.example,"Remis pour évaluation",A,"12,50","100,00",Oui,-,-,
Participant12347,"Grace ""Amazing"" Hopper",grace@uni.example,"Remis pour évaluation",A,,"100,00",Oui,-,-,
Participant12348,"José Fernández y García",jose@uni.example,"Remis pour évaluation",B,-,"100,00",Oui,-,-,
Participant12349,"Anna Schmidt",anna.1@uni.example,"Remis pour évaluation",B,,"100,00",Oui,-,-,
Participant12350,"Anna Schmidt",anna.2@uni.example,"Remis pour évaluation",B,,"100,00",Non,-,-,
Participant12352,"Emmy Noether",emmy@uni.example,"Pas de remise",B,,"100,00",Oui,-,-,
"""

MOODLE_BLIND = """\
Identifier,Status,Grade,"Maximum grade","Grade can be changed","Last modified (submission)",\
"Last modified (grade)"
"Participant 12345","Submitted for grading - ",,20,Yes,-,-
"Participant 12346","Submitted for grading - ",,20,Yes,-,-
"Participant 12347","No submission",,20,Yes,-,-
"""

BRIGHTSPACE = """\
OrgDefinedId,Username,Last Name,First Name,Email,\
Warm-up Points Grade <Numeric MaxPoints:10 Weight:5 Category:Homework CategoryWeight:50>,\
"Tiled matmul, part 1 Points Grade <Numeric MaxPoints:100 Weight:45 Category:Homework CategoryWeight:50>",\
Calculated Final Grade Numerator,End-of-Line Indicator
#S100,#ada,Lovelace,Ada,ada@uni.example,9.5,,0,#
#S101,#boris,Müller,Boris,boris@uni.example,8,100,0,#
#S102,#grace,Hopper,"Grace ""Amazing""\",grace@uni.example,,70,0,#
#S103,#jose,Fernández y García,José,jose@uni.example,10,,0,#
#S104,#anna1,Schmidt,Anna,anna.1@uni.example,7,1,0,#
#S105,#anna2,Schmidt,Anna,anna.2@uni.example,7,2,0,#
#S106,#zoe,Åström,Zoë,zoe@uni.example,,,0,#
#S107,#emmy,Noether,Emmy,emmy@uni.example,10,3.25,0,#
"""

BLACKBOARD = """\
"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t\
"Weighted Total [Total Pts: up to 0 Percentage] |5001"\t"Tiled matmul [Total Pts: 100 Score] |5002"
"Lovelace"\t"Ada"\t"ada"\t"S100"\t"2026-11-01 10:00:00"\t"Yes"\t""\t""
"Müller"\t"Boris"\t"boris"\t"S101"\t"2026-11-01 10:00:00"\t"Yes"\t""\t"100.00"
"Hopper"\t"Grace ""Amazing""\"\t"grace"\t"S102"\t""\t"Yes"\t""\t"Needs Grading"
"Fernández y García"\t"José"\t"jose"\t"S103"\t""\t"Yes"\t""\t""
"Schmidt"\t"Anna"\t"anna1"\t"S104"\t""\t"Yes"\t""\t""
"Schmidt"\t"Anna"\t"anna2"\t"S105"\t""\t"Yes"\t""\t""
"Åström"\t"Zoë"\t"zoe"\t"S106"\t""\t"Yes"\t""\t""
"Noether"\t"Emmy"\t"emmy"\t"S107"\t""\t"No"\t""\t"3.25\""""

GRADESCOPE = """\
First Name,Last Name,SID,Email,section_name,Total Score,Max Points,Status,Submission ID,Submission Time,\
Lateness (H:M:S)
Ada,Lovelace,S100,ada@uni.example,A,,100.0,Ungraded,900,2026-11-01 10:00:00 +0100,00:00:00
Boris,Müller,S101,boris@uni.example,A,100.0,100.0,Graded,901,2026-11-01 10:00:00 +0100,00:00:00
"Grace ""Amazing""\",Hopper,S102,grace@uni.example,A,70.0,100.0,Graded,902,2026-11-01 10:00:00 +0100,00:00:00
José,Fernández y García,S103,jose@uni.example,A,,100.0,Ungraded,903,2026-11-01 10:00:00 +0100,00:00:00
Anna,Schmidt,S104,anna.1@uni.example,A,,100.0,Ungraded,904,2026-11-01 10:00:00 +0100,00:00:00
Anna,Schmidt,,anna.2@uni.example,A,,100.0,Ungraded,905,2026-11-01 10:00:00 +0100,00:00:00
Zoë,Åström,S106,zoe@uni.example,A,,100.0,Ungraded,906,2026-11-01 10:00:00 +0100,00:00:00
Emmy,Noether,S107,emmy@uni.example,A,,,Missing,,,
"""

GRADESCOPE_COURSE = """\
Name,SID,Email,Warm-up,Warm-up - Max Points,Warm-up - Submission Time,Warm-up - Lateness (H:M:S),\
Tiled,Tiled - Max Points,Tiled - Submission Time,Tiled - Lateness (H:M:S),Total Lateness (H:M:S)
Ada Lovelace,S100,ada@uni.example,9.0,10.0,,,,100.0,,,00:00:00
Boris Müller,S101,boris@uni.example,9.0,10.0,,,,100.0,,,00:00:00
"""

GENERIC = """\
# of row;Nachname;Vorname;Matrikelnummer;Übung 1;Übung 2;Bemerkung
1;Lovelace;Ada;S100;9,5;;"sagt ""ja""\"
2;Müller;Boris;S101;;12,5;
3;Hopper;"Grace ""Amazing""\";S102;;;
4;Fernández y García;José;S103;;;
5;Schmidt;Anna;;;;hat keine Nummer
6;Schmidt;Anna;;;;auch nicht
7;Åström;Zoë;S106;;;entschuldigt
8;Noether;Emmy;S107;;;"""


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


_BLIND = tuple(
    Score(str(number), (Student(id=str(number)),), (), Fraction(31, 2)) for number in (12345, 12346)
)

SAMPLES = {
    "canvas": Sample(CANVAS.encode(), SCORES, title="tiled matmul, part 1"),
    "canvas-by-number": Sample(CANVAS.encode(), SCORES, column="7"),
    "canvas-by-name": Sample(CANVAS.encode(), BY_NAME, column="Tiled matmul, part 1"),
    "canvas-decimal-comma": Sample(
        codecs.BOM_UTF8 + _crlf(CANVAS_COMMA).encode(), SCORES, column="Aufgabe 1"
    ),
    "moodle": Sample(codecs.BOM_UTF8 + MOODLE.encode(), SCORES),
    "moodle-german": Sample(_crlf(MOODLE_GERMAN).encode("cp1252"), SCORES, column="Bewertung"),
    "moodle-french": Sample(MOODLE_FRENCH.encode(), SCORES),
    "moodle-blind": Sample(MOODLE_BLIND.encode(), _BLIND),
    "brightspace": Sample(_crlf(BRIGHTSPACE).encode(), SCORES, title="Tiled matmul, part 1"),
    "brightspace-utf-16": Sample(
        codecs.BOM_UTF16_LE + _crlf(BRIGHTSPACE).encode("utf-16-le"), SCORES, column="Tiled matmul, part 1"
    ),
    "blackboard": Sample(codecs.BOM_UTF16_LE + BLACKBOARD.encode("utf-16-le"), SCORES),
    "blackboard-big-endian": Sample(codecs.BOM_UTF16_BE + BLACKBOARD.encode("utf-16-be"), BY_NAME),
    "gradescope": Sample(GRADESCOPE.encode(), SCORES),
    "gradescope-course": Sample(GRADESCOPE_COURSE.encode(), SCORES, title="tiled"),
    "generic": Sample(_crlf(GENERIC).encode("cp1252"), SCORES, column="Übung 2"),
    "generic-old-mac": Sample(GENERIC.replace("\n", "\r").encode(), SCORES, column="Übung 1"),
}


def score(submission: str, *students: Student, points: float = 1, names: tuple[str, ...] = ()) -> Score:
    """A score of few words."""
    return Score(submission, students, names, Fraction(points))
