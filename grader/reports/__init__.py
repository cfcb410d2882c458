"""A grade, or a class of them, in the forms of readers. Pure: a record goes in, text comes out.

    text          the terminal: a student's feedback
    class_table   a class: the terminal, and gradebook.csv for spreadsheets
    wording       points, verdicts, states and speed, as every report says them
    grade_json    grade.json, for other programs
    record_json   record.json: the whole grade, there and back
    junit         JUnit XML, for continuous integration and learning platforms
    platforms     one file for a platform that starts the grader: Gradescope, PrairieLearn, Classroom 50
    html          a page per submission and one for the class
    audience      the part of a grade that a student may see
    selection     what a reader is shown of that, in its order: what reports of a submission lay out
    excerpts      lines and maps that are shown of a finding
    submission_page    content of the page of a submission
    pages, pictures    shared parts of all pages, and the drawings on them
    layout        lines for a terminal

`text` and `html` write for students unless asked to write for staff, `annotations` and `platforms` for
students only. All others show the grade that they are given: what is meant for a student goes through
`audience.student_view` first.
"""
