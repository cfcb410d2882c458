"""Texts that try to be more than text, in whichever report they end up."""

from __future__ import annotations

PAYLOADS = {
    # markup
    "element": "<img src=x onerror=alert(1)>",
    "script": "</title></style></pre></textarea></script><script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "single-quote": "' onfocus='alert(1)' autofocus='",
    "entities": "&lt;b&gt; &#x3c;i&#62; &amp; &lol; &",
    "entity-bomb": "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><x>&b;</x>",
    "external-entity": "<!DOCTYPE x SYSTEM 'file:///etc/passwd'><x>&xxe;</x>",
    "cdata": "]]><testcase name='free'/><![CDATA[",
    "comment": "--><p>x</p><!--",
    "instruction": "<?xml-stylesheet href='//example.org'?><?php die(); ?>",
    "closing-tags": "</failure></testcase></testsuite><testsuite name='mine' tests='1'>",
    "link": "javascript:alert(1)//http://example.org",
    "path": "../../../etc/passwd?x#y",
    # what readers of test output look for
    "property": "[[PROPERTY|points=100]]",
    "attachment": "[[ATTACHMENT|/etc/passwd]]",
    "workflow-command": "::error file=x::y\n##vso[task.complete result=Succeeded;]",
    # spreadsheets
    "command": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1,1)",
    "tab": "\t=1+1",
    "return": "\r=1+1",
    "space": "  =1+1",
    "wide-equals": "＝1+1",
    "no-break-space": "\u00a0=1+1",
    "mark-before": "\ufeff=1+1",
    "zero-width-before": "\u200b=1+1",
    "escape-before": "\x1b[m=1+1",
    "semicolon": 'a;=HYPERLINK("//example.org")',
    "semicolon-quote": "a; \"'+1",
    "cells": '","=1+1","',
    "row": "x\n=1+1,100,100,pass\n",
    # terminals
    "colour": "\x1b[31mred\x1b[2J\x1b[H",
    "hyperlink": "\x1b]8;;http://example.org\x1b\\click\x1b]8;;\x1b\\",
    "window-title": "\x1b]0;owned\x07",
    "unended-string": "\x1b]52;c;",
    "device-control": "\x1bPq#0;2;0;0;0\x1b\\",
    "eight-bit": "\x9b31mred\x9d0;owned\x9c",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85",
    "overstrike": "fail\rpass\b\b\b\b",
    "line-ends": "a\u2028b\u2029c\x0bd\x0ce\x1cf",
    "rich-markup": "[bold red]x[/] [link=http://example.org]y[/link] :warning:",
    # readers' eyes
    "direction": "\u202egnp.uc\u2066x\u2069\u200f\u061c",
    "zero-width": "a\u200bb\u200d\u2060\ufeff\u00ad",
    "unseen-letters": "\u3164\u115f\u1160\uffa0\ufe0f\u034f\u2800",
    "tags": "\U000e0001\U000e0041\U000e007f",
    # encodings
    "surrogates": "\ud800\udcff\udfff",
    "no-characters": "\ufffe\uffff\U0010ffff\U0001fffe",
    "astral": "\U0001f600\U00020000",
    # others
    "markdown": "# x\n[x](javascript:alert(1)) ![x](//example.org/x.png) <b>x</b>\n```\n",
    "templates": "{{7*7}} ${7*7} <%= 7 %> {0.__class__} %s %n",
    "tex": "$\\href{javascript:alert(1)}{x}$ \\input{/etc/passwd}",
    "json": '", "score": 100, "x": "\\u0022',
    "long": "x" * 100_000,
    "deep": "[" * 5_000 + "<" * 5_000,
}
