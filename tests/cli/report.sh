#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun report` of a run directory made by hand against tests/golden/report/, and other programs that check
# the page. DDLRUN_WRITE_GOLDEN=1 writes it anew.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/report
cp -r "$DDLRUN_SOURCE_DIR/tests/data/report/run" "$work/run"
chmod -R u+w "$work/run"
cd "$work" || exit 2
expect 0 "wrote ./run/report.html" "$DDLRUN" report ./run
sed -e "s:$work/[.]/:/runs/:g; s:$work:/runs:g" -e 's/made by ddlrun [0-9.]*, [0-9TZ:-]*/made by ddlrun VERSION, TIME/' run/report.html > found.html
[[ -z ${DDLRUN_WRITE_GOLDEN-} ]] || cp found.html "$golden/failed.html"
diff -u "$golden/failed.html" found.html || fail "the page differs"

# Well formed by Python's reader: every element is closed by its own end, nothing is loaded, nothing runs.
python3 - run/report.html << 'END' || fail "html.parser finds fault"
import sys
from html.parser import HTMLParser

class Page(HTMLParser):
    void = {"meta", "br"}
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""
    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "srcset", "action"), (tag, name)
            assert name != "href" or value.startswith("/"), value
            assert "://" not in (value or ""), (tag, name, value)
        if tag not in self.void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.void:
            self.open.pop()
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text += data

text = open(sys.argv[1], encoding="utf-8", newline="").read()
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert not page.seen & {"script", "iframe", "object", "embed", "link", "img", "base", "form"}, page.seen
assert {"svg", "table", "polyline", "pre"} <= page.seen
assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
for said in ('<script>alert("x")</script>', "</pre><script>alert('log')</script>", "<b>rank 3</b>", "<b>digits</b>"):
    assert said in page.text, said
END
if command -v xmllint > /dev/null; then
  xmllint --html --noout run/report.html 2> lint || true
  # libxml2 knows HTML 4 only: elements of SVG and "nav" are unknown to it, nothing else is.
  grep 'error' lint | grep -v 'Tag [a-z]* invalid' && fail "xmllint finds fault"
fi

# --- other places for the page
expect 0 '<!DOCTYPE html>' "$DDLRUN" report ./run -o -
expect 0 'wrote page.html' "$DDLRUN" report ./run -o page.html
check_equal() { cmp -s <(grep -v '^<footer>' "$1") <(grep -v '^<footer>' "$2") || fail "$1 and $2 differ"; }
check_equal page.html run/report.html

# --- a record that lacks things, and one that is damaged
rm run/plan.json run/topology-0.json run/metrics.jsonl run/argv
expect 0 'wrote' "$DDLRUN" report ./run
printf '{"schema": "ddlrun.run/1"}' > run/run.json
expect 0 'wrote' "$DDLRUN" report ./run
head -c 100 "$DDLRUN_SOURCE_DIR/tests/data/report/run/run.json" > run/run.json
expect_refusal 3 'damaged' "$DDLRUN" report ./run
finish
