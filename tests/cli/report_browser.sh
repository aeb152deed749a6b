#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of `ddlrun report` in a real browser without network: no script of anybody's runs, nothing is wider
# than the window.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
browser=$(command -v chromium || command -v google-chrome) ||
  { echo "skipped: no chromium here (apt-get install chromium)"; exit 125; }
cp -r "$DDLRUN_SOURCE_DIR/tests/data/report/run" "$work/run"
chmod -R u+w "$work/run"
expect 0 'wrote' "$DDLRUN" report "$work/run" -o "$work/page.html"
# A frame around the page measures it; alert() of a script in it would hang or show.
cat > "$work/frame.html" << 'END'
<!DOCTYPE html><title>waiting</title><iframe id="f" src="page.html" style="width:1200px;height:900px;border:0"></iframe>
<script>
window.alerted = 0;
document.getElementById("f").onload = () => {
  const page = document.getElementById("f").contentDocument;
  const wide = page.documentElement.scrollWidth;
  const scripts = page.getElementsByTagName("script").length;
  const loaded = document.getElementById("f").contentWindow.performance.getEntriesByType("resource").length;
  const drawn = [...page.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().height > 20).length;
  document.body.setAttribute("data-measured", `wide=${wide} scripts=${scripts} loaded=${loaded} drawn=${drawn}`);
};
</script>
END
run timeout 120 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
  --user-data-dir="$work/profile" --virtual-time-budget=5000 --dump-dom "file://$work/frame.html"
[ "$status" -eq 0 ] || { echo "skipped: the browser does not run here: $(tail -1 "$work/err")"; exit 125; }
reported=$(grep -o 'data-measured="[^"]*"' "$work/out")
[[ $reported =~ wide=([0-9]+)\ scripts=0\ loaded=0\ drawn=([0-9]+) ]] || fail "the browser says: $reported"
[ "${BASH_REMATCH[1]:-9999}" -le 1200 ] || fail "the page is wider than the window: $reported"
[ "${BASH_REMATCH[2]:-0}" -eq 5 ] || fail "not 5 pictures: $reported"
finish
