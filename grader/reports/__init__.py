"""A grade, or a class of them, as somebody wants to read it. Pure: a record goes in, text comes out.

    text          the terminal: a student's feedback, a class as a table
    grade_json    grade.json, there and back
    junit         JUnit XML, for continuous integration and learning platforms
    gradebook     CSV, for spreadsheets
    html          a page per submission and one for the class
    audience      what a student may see of a grade
    safe_text     hostile names and messages made harmless
    points        exact points as people write them

Every report shows the grade that it is given. What is meant for a student goes through
`audience.student_view` first.
"""
