"""A grade, or a class of them, as somebody wants to read it. Pure: a record goes in, text comes out.

    text          the terminal: a student's feedback
    class_table   a class: the terminal, and gradebook.csv for spreadsheets
    wording       points, verdicts, states and speed, as every report says them
    grade_json    grade.json, for other programs
    record_json   record.json: the whole grade, there and back
    junit         JUnit XML, for continuous integration and learning platforms
    platforms     one file for a platform that starts the grader: Gradescope, PrairieLearn, Classroom 50
    html          a page per submission and one for the class
    audience      what a student may see of a grade
    excerpts      lines and maps that are shown of a finding
    submission_page    what the page of a submission shows
    pages, pictures    what all pages share, and what is drawn on them
    layout        lines for a terminal

`text` and `html` write for students unless asked to write for staff. All others show the grade that they
are given: what is meant for a student goes through `audience.student_view` first.
"""
