/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The floor under every fetcher built on libcurl: a bare multi loop that gets the URLs of a list
 * and throws the bytes away.
 *
 * usage: bench-floor CA-FILE CONNECT-HOST:PORT CONCURRENCY < URLS
 * A fresh connection for each URL, a full TLS handshake with certificate check, HTTP/1.1, transfer
 * decoding, no content decoding. Prints one JSON object: transfers, bytes, failures, cpu_seconds,
 * wall_seconds.
 *
 * As cheap as libcurl's documented interface allows, for whatever it wastes would flatter the
 * worker: epoll and curl_multi_socket_action() (curl_multi_perform() tries every transfer at each
 * turn), handles used again, and the certificates of the CA file parsed once, which libcurl does
 * only without a CAPATH. Sessions are not resumed: SSL_SESSIONID_CACHE is 0.
 */
#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_PER_WAIT 64

struct slot {
	CURL *easy;
	struct curl_slist *connect_to;
};

struct loop {
	CURLM *multi;
	int epoll;
	double due; /* of libcurl's timer; negative: none is set */
	size_t active;
	unsigned long transfers;
	unsigned long failures;
};

static unsigned long long total_bytes;

static size_t swallow(char *data, size_t size, size_t n, void *ctx)
{
	(void)data;
	(void)ctx;
	total_bytes += size * n;
	return size * n;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
	(void)easy;
	struct loop *l = ctx;
	struct epoll_event want = {.data.fd = fd};
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	want.events = ((what & CURL_POLL_IN) != 0 ? (uint32_t)EPOLLIN : 0) |
		      ((what & CURL_POLL_OUT) != 0 ? (uint32_t)EPOLLOUT : 0);
	epoll_ctl(l->epoll, known != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &want);
	curl_multi_assign(l->multi, fd, l);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
	(void)multi;
	struct loop *l = ctx;
	l->due = timeout_ms < 0 ? -1 : now() + (double)timeout_ms / 1000;
	return 0;
}

static void start_next(struct loop *l, struct slot *slot)
{
	char url[4096];
	if (fgets(url, sizeof(url), stdin) == NULL)
		return;
	url[strcspn(url, "\r\n")] = '\0';
	curl_easy_setopt(slot->easy, CURLOPT_URL, url);
	curl_multi_add_handle(l->multi, slot->easy);
	l->active++;
}

static void prepare(struct slot *slot, const char *ca_file, const char *target)
{
	char line[512];
	snprintf(line, sizeof(line), "::%s", target);
	slot->connect_to = curl_slist_append(NULL, line);
	slot->easy = curl_easy_init();
	curl_easy_setopt(slot->easy, CURLOPT_CONNECT_TO, slot->connect_to);
	curl_easy_setopt(slot->easy, CURLOPT_CAINFO, ca_file);
	curl_easy_setopt(slot->easy, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(slot->easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(slot->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(slot->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
}

static void take_finished(struct loop *l)
{
	int left;
	for (CURLMsg *m = curl_multi_info_read(l->multi, &left); m != NULL;
		m = curl_multi_info_read(l->multi, &left)) {
		struct slot *slot = NULL;
		long status = 0;
		CURLcode rc = m->data.result;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
		curl_easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &status);
		l->transfers++;
		l->failures += rc != CURLE_OK || status != 200;
		curl_multi_remove_handle(l->multi, slot->easy);
		l->active--;
		start_next(l, slot);
	}
}

static int wait_ms(const struct loop *l)
{
	if (l->due < 0)
		return -1;
	double left = l->due - now();
	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static void run(struct loop *l)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	int running;
	while (l->active > 0) {
		int n = epoll_wait(l->epoll, events, EVENTS_PER_WAIT, wait_ms(l));
		for (int i = 0; i < n; i++) {
			uint32_t e = events[i].events;
			int ready = ((e & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
				    ((e & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
				    ((e & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
			curl_multi_socket_action(l->multi, events[i].data.fd, ready, &running);
		}
		if (l->due >= 0 && now() >= l->due) {
			l->due = -1;
			curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
		}
		take_finished(l);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: %s CA-FILE CONNECT-HOST:PORT CONCURRENCY < URLS\n",
			argv[0]);
		return 2;
	}
	size_t concurrency = (size_t)strtoul(argv[3], NULL, 10);
	struct slot *slots = calloc(concurrency ? concurrency : 1, sizeof(*slots));
	if (slots == NULL || concurrency == 0)
		return 2;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	struct loop l = {
		.multi = curl_multi_init(), .epoll = epoll_create1(EPOLL_CLOEXEC), .due = -1};
	curl_multi_setopt(l.multi, CURLMOPT_MAXCONNECTS, 16L);
	curl_multi_setopt(l.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(l.multi, CURLMOPT_SOCKETDATA, &l);
	curl_multi_setopt(l.multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(l.multi, CURLMOPT_TIMERDATA, &l);
	double started = now();
	for (size_t i = 0; i < concurrency; i++) {
		prepare(&slots[i], argv[1], argv[2]);
		start_next(&l, &slots[i]);
	}
	run(&l);
	double wall = now() - started;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"transfers\":%lu,\"bytes\":%llu,\"failures\":%lu,\"cpu_seconds\":%.6f,\"wall_seconds\":%.6f}\n",
		l.transfers, total_bytes, l.failures,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), wall);
	for (size_t i = 0; i < concurrency; i++) {
		curl_easy_cleanup(slots[i].easy);
		curl_slist_free_all(slots[i].connect_to);
	}
	curl_multi_cleanup(l.multi);
	close(l.epoll);
	free(slots);
	return l.failures > 0;
}
