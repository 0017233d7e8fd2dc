# Known series of containers, as cAdvisor and kube-state-metrics expose them, in OpenMetrics text.
# usage: awk -v base=EPOCH -v step=S -v span=S -v limit=BYTES [-v duplicate=1] -f gen.awk ACTIONS.tsv
#
# ACTIONS: pod, start, end (seconds after base), peak_bytes, cores, kill; further columns are for readers.
# kill says what happened at the action's end:
#   0      nothing
#   1      the kernel killed the container: OOMKilled, 137, and a new one began
#   child  the kernel killed a process of it, counted it, and the container lived on
#   error  as 1, but the runtime lost the event: Error, 137
#   stop   it was stopped after a child had been killed before: OOMKilled, 143
#
# Each sample inside [start,end] of an action has working set = peak_bytes and counts `cores` of CPU a
# second, idle otherwise: what a join must give follows from the table alone. Samples carry a phase of
# their pod in milliseconds, as cAdvisor's own timestamps do. duplicate: a second scrape job each.
# Numbers are printed with %.0f: the %d of mawk stops at 2^31 - 1.
BEGIN {
	FS = "\t"
	idle = 50000000
	pods = split("worker-shared-5b6dd8dff9-2bv88 worker-shared-5b6dd8dff9-x7k4q worker-shared-5b6dd8dff9-h7vmn worker-legacy-57cc765f59-97fkc", pod, " ")
	for (p = 1; p <= pods; p++) {
		number[pod[p]] = p
		node[p] = "nodes-" (p < 3 ? 1 : 2)
		phase[p] = p * 3.137
	}
	image["runner"] = "ghcr.io/deepspacecartel/buckroot-worker:latest"
	image["worker"] = "ghcr.io/buildbarn/bb-worker:x"
	cadvisor_jobs = split("kubernetes-nodes-cadvisor" (duplicate ? " kubelet" : ""), cadvisor_job, " ")
	ksm_jobs = split("kubernetes-service-endpoints" (duplicate ? " kube-state-metrics" : ""), ksm_job, " ")
}

/^#/ || NF < 6 { next }

!($1 in number) {
	print "gen.awk: unknown pod " $1 > "/dev/stderr"
	failed = 1
	exit 1
}

{
	actions++
	at_pod[actions] = number[$1]
	begin[actions] = $2
	end[actions] = $3
	peak[actions] = $4
	cores[actions] = $5
	kill[actions] = $6
}

END {
	if (failed)
		exit 1
	for (p = 1; p <= pods; p++) {
		find_kills(p)
		play(p)
	}
	containers("container_memory_working_set_bytes", "gauge", "set")
	containers("container_memory_rss", "gauge", "rss")
	containers("container_memory_max_usage_bytes", "gauge", "max")
	containers("container_cpu_usage_seconds_total", "counter", "cpu")
	containers("container_oom_events_total", "counter", "oom")
	containers("container_start_time_seconds", "gauge", "start")
	states("kube_pod_info", "gauge", "info")
	states("kube_pod_container_resource_requests", "gauge", "memory")
	states("kube_pod_container_resource_requests", "gauge", "cpu")
	states("kube_pod_container_resource_limits", "gauge", "memory")
	states("kube_pod_container_status_restarts_total", "counter", "restarts")
	states("kube_pod_container_status_last_terminated_reason", "gauge", "reason")
	states("kube_pod_container_status_last_terminated_exitcode", "gauge", "exit")
	states("kube_pod_container_status_last_terminated_timestamp", "gauge", "ended")
	print "# EOF"
}

# Ends of the pod's containers, in order: ended[p, 1 .. ends[p]].
function find_kills(p,  k, i) {
	ends[p] = 0
	for (k = 1; k <= actions; k++) {
		if (at_pod[k] != p || kill[k] == "0" || kill[k] == "child")
			continue
		for (i = ++ends[p]; i > 1 && ended[p, i - 1] > end[k]; i--) {
			ended[p, i] = ended[p, i - 1]
			how[p, i] = how[p, i - 1]
		}
		ended[p, i] = end[k]
		how[p, i] = kill[k]
	}
}

# How many containers ended before t: the number of the one that runs.
function generation(p, t,  g) {
	for (g = 0; g < ends[p] && ended[p, g + 1] < t; g++)
		;
	return g
}

# What the runner of a pod does: its samples.
function play(p,  t, s, k, from, to, cpu, max, born, last) {
	s = 0
	cpu = max = born = last = 0
	for (t = phase[p]; t < span; t += step) {
		s++
		time[p, s] = t
		gen[p, s] = generation(p, t)
		if (s > 1 && gen[p, s] != gen[p, s - 1]) { # counters begin anew
			cpu = max = 0
			born = last = ended[p, gen[p, s]]
		}
		set[p, s] = idle
		ooms[p, s] = 0
		for (k = 1; k <= actions; k++) {
			if (at_pod[k] != p)
				continue
			if (t >= begin[k] && t <= end[k])
				set[p, s] = peak[k]
			from = begin[k] > last ? begin[k] : last
			to = end[k] < t ? end[k] : t
			if (to > from)
				cpu += (to - from) * cores[k]
			if (kill[k] == "child" && end[k] > born && end[k] <= t)
				ooms[p, s]++
		}
		cpu += (t - last) * 0.01
		last = t
		if (set[p, s] > max)
			max = set[p, s]
		used[p, s] = cpu
		most[p, s] = max
	}
	samples[p] = s
}

function header(metric, type,  family) {
	family = metric
	if (type == "counter")
		sub(/_total$/, "", family)
	if (!(family in seen))
		printf "# TYPE %s %s\n", family, type
	seen[family] = 1
}

# ---- cAdvisor ----

function labels(p, container, g, job) {
	return sprintf("container=\"%s\",id=\"/kubepods/burstable/pod%s/%s%d\",image=\"%s\",name=\"%s\",namespace=\"buildbarn\",pod=\"%s\",instance=\"%s\",job=\"%s\"", container, pod[p], container, g, image[container], container == "" ? "" : container g "-" pod[p], pod[p], node[p], job)
}

function runner_value(p, s, what) {
	if (what == "set")
		return sprintf("%.6f", set[p, s])
	if (what == "rss")
		return sprintf("%.6f", set[p, s] * 0.8)
	if (what == "max")
		return sprintf("%.6f", most[p, s])
	if (what == "cpu")
		return sprintf("%.6f", used[p, s])
	if (what == "oom")
		return sprintf("%.0f", ooms[p, s])
	return sprintf("%.0f", base + (gen[p, s] ? ended[p, gen[p, s]] + 1 : -600))
}

# Of the worker beside it; of the pod's own cgroup, which is the sum of both.
function other_value(p, s, what, container) {
	if (what == "cpu")
		return sprintf("%.6f", time[p, s] * 0.05 + (container == "" ? used[p, s] : 0))
	return sprintf("%.6f", container == "" ? set[p, s] + 121000000 : 120000000)
}

function containers(metric, type, what,  p, s, j) {
	header(metric, type)
	for (p = 1; p <= pods; p++) {
		for (j = 1; j <= cadvisor_jobs; j++)
			for (s = 1; s <= samples[p]; s++)
				printf "%s{%s} %s %.3f\n", metric, labels(p, "runner", gen[p, s], cadvisor_job[j]), runner_value(p, s, what), base + time[p, s]
		if (what == "oom" || what == "start")
			continue
		for (s = 1; s <= samples[p]; s++)
			printf "%s{%s} %s %.3f\n", metric, labels(p, "worker", 0, cadvisor_job[1]), other_value(p, s, what, "worker"), base + time[p, s]
		for (s = 1; s <= samples[p]; s++)
			printf "%s{%s} %s %.3f\n", metric, labels(p, "", 0, cadvisor_job[1]), other_value(p, s, what, ""), base + time[p, s]
	}
}

# ---- kube-state-metrics ----

# "labels value" of the state at t; "" where the series is not there.
function state(p, t, what,  g) {
	g = generation(p, t)
	if (what == "info")
		return sprintf(",node=\"%s\",host_ip=\"10.0.0.%d\",created_by_kind=\"ReplicaSet\"} 1", node[p], p)
	if (what == "memory")
		return sprintf(",container=\"runner\",resource=\"memory\",unit=\"byte\",node=\"%s\"} %.0f", node[p], limit)
	if (what == "cpu")
		return sprintf(",container=\"runner\",resource=\"cpu\",unit=\"core\",node=\"%s\"} 4.5", node[p])
	if (what == "restarts")
		return sprintf(",container=\"runner\"} %d", g)
	if (!g)
		return ""
	if (what == "reason")
		return sprintf(",container=\"runner\",reason=\"%s\"} 1", how[p, g] == "error" ? "Error" : "OOMKilled")
	if (what == "exit")
		return sprintf(",container=\"runner\"} %d", how[p, g] == "stop" ? 143 : 137)
	return sprintf(",container=\"runner\"} %.0f", base + int(ended[p, g]))
}

function states(metric, type, what,  p, t, j, text) {
	header(metric, type)
	for (p = 1; p <= pods; p++)
		for (j = 1; j <= ksm_jobs; j++)
			for (t = (j - 1) * step / 3; t < span; t += step) {
				text = state(p, t, what)
				if (text != "")
					printf "%s{namespace=\"buildbarn\",pod=\"%s\",uid=\"uid-%d\",job=\"%s\"%s %.3f\n", metric, pod[p], p, ksm_job[j], text, base + t
			}
}
