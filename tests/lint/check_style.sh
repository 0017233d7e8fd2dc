#!/bin/bash
# clang-format, shellcheck, mandoc, and what no text file of ours may hold.
# usage: check_style.sh [ROOT]
set -uo pipefail
cd "${1:-$(dirname "$0")/../..}" || exit 2
failed=0
fault() {
	echo "$*"
	failed=1
}

# Ours, committed or not; nothing that is recorded, generated or ignored.
mapfile -t files < <(git ls-files --cached --others --exclude-standard | sort |
	grep -vE '^tests/data/logs/|^tests/buildbarn/(go\.|bytestream/|config/)|^tests/fuzz/corpus/|\.(zst|gz)$' |
	while read -r file; do [ -f "$file" ] && echo "$file"; done)
[ ${#files[@]} -gt 0 ] || fault 'no file found: is this a git checkout?'
of_kind() { printf '%s\n' "${files[@]}" | grep -E "$1"; }

mapfile -t sources < <(of_kind '\.[ch]$')
if [ ${#sources[@]} -gt 0 ]; then
	clang-format --dry-run -Werror "${sources[@]}" || fault 'clang-format -i would change these'
fi

mapfile -t scripts < <(awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh$/ { print FILENAME } { nextfile }' "${files[@]}")
if [ ${#scripts[@]} -gt 0 ]; then
	shellcheck "${scripts[@]}" || fault 'shellcheck complains'
fi

mapfile -t pages < <(of_kind '\.[1-9]$')
for page in "${pages[@]}"; do
	mandoc -T lint -W warning "$page" || fault "$page: mandoc complains"
done

# Golden files hold what the program prints, spaces at line ends included.
mapfile -t texts < <(of_kind . | grep -v '^tests/golden/')
grep -nIE '[[:blank:]]+$' "${texts[@]}" && fault 'white space at the end of a line'
# A path of somebody's own machine. /home/br2 is what the recorded logs hold, u and user are nobody.
grep -nIP '(?<![\w.~-])/(root|work|mnt|Users|home/(?!(br2\d*|u|user)/)\w+)/' "${texts[@]}" &&
	fault 'the path of a machine'
# One record a file with -z: it must end in a newline.
grep -LzP '(?s)\n\z' "${texts[@]}" | while read -r file; do [ ! -s "$file" ] || echo "$file"; done | grep . &&
	fault 'no newline at the end'

[ $failed -eq 0 ] && echo 'style holds'
exit $failed
