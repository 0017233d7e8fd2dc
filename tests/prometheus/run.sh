#!/bin/sh
# A real Prometheus with known data.
#
# usage: run.sh start [DIR]   make the data, load it, start the server, wait until it answers; prints PROM_… lines
#        run.sh check [DIR]   ask the running server and compare with ACTIONS
#        run.sh stop [DIR]    stop the server that was started from DIR
#        run.sh all [DIR]     start, check, stop; exit status is check's
#
# Environment: PORT (9095; auto: the first free one from 9100 up), BASE (epoch of the first sample),
# STEP (15 s), SPAN (7200 s), ACTIONS (see gen.awk), LIMIT (bytes of memory of a runner), DUPLICATE=1
# (a second scrape job), EMPTY=1 (no data), AUTH=1 (user test, password secret), TLS=1 (self-signed,
# DIR/tls.crt), FLAGS (more of the server's own).
#
# The recorded actions of tests/data/logs, at their real times and pods, with the true limit of 1 GiB:
#   BASE=1796003700 SPAN=900 STEP=1 LIMIT=1073741824 ACTIONS=recorded-actions.tsv
set -eu
HERE=$(cd "$(dirname "$0")" && pwd)
CMD=${1:-all}
DIR=${2:-${TMPDIR:-/tmp}/br2-prometheus.$(id -u)}
case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
PORT=${PORT:-9095}
BASE=${BASE:-1790035200} # 2026-09-22T00:00:00Z
STEP=${STEP:-15}
SPAN=${SPAN:-7200}
LIMIT=${LIMIT:-9663676416}
ACTIONS=${ACTIONS:-$HERE/actions.tsv}

die() {
	echo "run.sh: $*" >&2
	exit 1
}

# Does anything listen on 127.0.0.1:$1?
busy() {
	r=0
	curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$1/" || r=$?
	[ $r -ne 7 ]
}

if [ "$PORT" = auto ]; then
	if [ "$CMD" = start ] || [ "$CMD" = all ]; then
		PORT=9100
		while busy $PORT; do PORT=$((PORT + 1)); done
	else
		PORT=$(cat "$DIR/port")
	fi
fi
URL=http://127.0.0.1:$PORT
[ "${TLS:-0}" != 1 ] || URL=https://127.0.0.1:$PORT

# curl, with what the variant needs.
ask() {
	set -- -sS --max-time 20 "$@"
	[ "${AUTH:-0}" != 1 ] || set -- -u test:secret "$@"
	[ "${TLS:-0}" != 1 ] || set -- --cacert "$DIR/tls.crt" "$@"
	curl "$@"
}

# Our own server only: its pid, and our folder on its command line.
alive() {
	[ -s "$DIR/pid" ] || return 1
	{ tr '\0' ' ' <"/proc/$(cat "$DIR/pid")/cmdline"; } 2>/dev/null | grep -q -- "--storage.tsdb.path=$DIR/tsdb"
}

make_data() {
	awk -v base="$BASE" -v step="$STEP" -v span="$SPAN" -v limit="$LIMIT" -v duplicate="${DUPLICATE:-0}" \
		-f "$HERE/gen.awk" "$ACTIONS" >"$DIR/metrics.om"
	promtool tsdb create-blocks-from openmetrics -q "$DIR/metrics.om" "$DIR/tsdb" >"$DIR/promtool.log" 2>&1 || {
		cat "$DIR/promtool.log" >&2
		die "promtool failed"
	}
}

make_web_config() {
	: >"$DIR/web.yml"
	# bcrypt of "secret", cost 4
	# shellcheck disable=SC2016
	[ "${AUTH:-0}" != 1 ] ||
		printf 'basic_auth_users:\n  test: "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"\n' >>"$DIR/web.yml"
	[ "${TLS:-0}" = 1 ] || return 0
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=127.0.0.1 \
		-addext 'subjectAltName=IP:127.0.0.1,DNS:localhost' \
		-keyout "$DIR/tls.key" -out "$DIR/tls.crt" 2>/dev/null
	printf 'tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n' >>"$DIR/web.yml"
}

# The server that was just started is no use: ends it (its command line may still be ours, as alive() sees it).
give_up() {
	cat "$DIR/log" >&2
	kill "$(cat "$DIR/pid")" 2>/dev/null || true
	rm -f "$DIR/pid"
	die "$1"
}

wait_until_ready() {
	i=0
	until [ "$(ask -o /dev/null -w '%{http_code}' "$URL/-/ready" 2>/dev/null || true)" = 200 ]; do
		kill -0 "$(cat "$DIR/pid")" 2>/dev/null || give_up "prometheus exited"
		i=$((i + 1))
		[ $i -lt 150 ] || give_up "not ready after 30 s"
		sleep 0.2
	done
	# Somebody may have taken the port in between: the server that answers must be the one with our data.
	ask "$URL/api/v1/status/flags" | grep -q "\"storage.tsdb.path\":\"$DIR/tsdb\"" ||
		give_up "another server answers on port $PORT"
}

start() {
	command -v prometheus >/dev/null || die "prometheus is not installed (apt-get install prometheus)"
	command -v promtool >/dev/null || die "promtool is not installed"
	! alive || die "already running from $DIR, pid $(cat "$DIR/pid")"
	! busy "$PORT" || die "port $PORT is taken"
	[ ! -e "$DIR" ] || [ -e "$DIR/.br2-prometheus" ] || die "$DIR exists and is not ours"
	rm -rf "$DIR"
	mkdir -p "$DIR/tsdb"
	: >"$DIR/.br2-prometheus"
	[ "${EMPTY:-0}" = 1 ] || make_data
	printf 'global:\n  scrape_interval: 1h\nscrape_configs: []\n' >"$DIR/prometheus.yml"
	make_web_config
	# Retention: blocks are compared with the newest block, not with the clock; 10y keeps old dates anyway.
	# shellcheck disable=SC2086
	GOMAXPROCS=1 prometheus --config.file="$DIR/prometheus.yml" --storage.tsdb.path="$DIR/tsdb" \
		--storage.tsdb.retention.time=10y --web.listen-address="127.0.0.1:$PORT" \
		--web.config.file="$DIR/web.yml" --log.level=warn ${FLAGS:-} >"$DIR/log" 2>&1 </dev/null &
	echo $! >"$DIR/pid"
	echo "$PORT" >"$DIR/port"
	wait_until_ready
	echo "PROM_URL=$URL"
	echo "PROM_PID=$(cat "$DIR/pid")"
	echo "PROM_BASE=$BASE"
	echo "PROM_END=$((BASE + SPAN))"
}

stop() {
	[ -s "$DIR/pid" ] || return 0
	if alive; then
		p=$(cat "$DIR/pid")
		kill "$p"
		i=0
		while alive; do
			i=$((i + 1))
			[ $i -lt 50 ] || {
				kill -9 "$p"
				break
			}
			sleep 0.2
		done
	fi
	rm -f "$DIR/pid"
}

# ---- comparing ----

bad=0
verdict() { # WHAT WANTED GOT
	if [ "$2" = "$3" ]; then r=ok; else
		r=BAD
		bad=1
	fi
	printf '%-60s want %-24s got %-24s %s\n' "$1" "$2" "$3" $r
}

# Raw samples: a range selector in an instant query, one request for all pods.
raw() {
	ask "$URL/api/v1/query" --data-urlencode "query=$1{namespace=\"buildbarn\",container=\"runner\"}[$((SPAN + 600))s]" \
		--data-urlencode "time=$((BASE + SPAN + 300))"
}

# Every sample inside an action has its peak.
check_peaks() {
	while IFS="$(printf '\t')" read -r pod s e peak _ _; do
		got=$(jq -r --arg p "$pod" --argjson s "$s" --argjson e "$e" --argjson b "$BASE" '
			[.data.result[] | select(.metric.pod == $p) | .values[]
			 | select(.[0] >= $b + $s and .[0] <= $b + $e) | .[1] | tonumber] | unique | map(tostring) | join(" ")' \
			"$DIR/ws.json")
		if [ -z "$got" ]; then
			printf '%-60s no sample\n' "$pod $s-$e"
		else
			verdict "$pod $s-$e" "$peak" "$got"
		fi
	done <"$DIR/actions.tsv"
}

# Each kill of a container is a time of its own; each counted kill of a child a rise of the counter.
check_kills() {
	raw kube_pod_container_status_last_terminated_timestamp >"$DIR/ended.json"
	raw container_oom_events_total >"$DIR/oom.json"
	cut -f1 "$DIR/actions.tsv" | sort -u >"$DIR/pods.txt"
	while read -r pod; do
		verdict "$pod killed containers" \
			"$(awk -F'\t' -v p="$pod" -v b="$BASE" \
				'$1 == p && $6 !~ /^(0|child)$/ { printf "%.0f ", b + int($3) }' "$DIR/actions.tsv")" \
			"$(jq -j --arg p "$pod" '[.data.result[] | select(.metric.pod == $p) | .values[][1] | tonumber]
				| unique | .[] | "\(.) "' "$DIR/ended.json")"
		verdict "$pod counted kills" \
			"$(awk -F'\t' -v p="$pod" '$1 == p && $6 == "child" { n++ } END { print n + 0 }' "$DIR/actions.tsv")" \
			"$(jq -r --arg p "$pod" '[.data.result[] | select(.metric.pod == $p) | {id: .metric.id, max: ([.values[][1] | tonumber] | max)}]
				| group_by(.id) | map(map(.max) | max) | add // 0' "$DIR/oom.json")"
	done <"$DIR/pods.txt"
	verdict "memory limit" "$LIMIT" \
		"$(raw kube_pod_container_resource_limits | jq -r '[.data.result[].values[][1]] | unique | join(" ")')"
}

check() {
	command -v jq >/dev/null || die "check needs jq"
	raw container_memory_working_set_bytes >"$DIR/ws.json"
	grep -v '^#' "$ACTIONS" >"$DIR/actions.tsv"
	check_peaks
	check_kills
	return $bad
}

case $CMD in
start) start ;;
stop) stop ;;
check) check ;;
all)
	start
	trap stop EXIT INT TERM
	check
	;;
*) die "usage: run.sh start|stop|check|all [DIR]" ;;
esac
