/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The floor under every fetcher built on libcurl: a bare multi loop that gets the URLs of a list
 * and throws the bytes away.
 *
 * usage: bench-floor CA-FILE CONNECT-HOST:PORT CONCURRENCY < URLS
 * Fresh connections, TLS with certificate check, transfer decoding, no content decoding: what the
 * worker asks of libcurl, and nothing else. Prints one JSON object: transfers, bytes, failures,
 * cpu_seconds, wall_seconds.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct slot {
	CURL *easy;
	struct curl_slist *connect_to;
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

static int start_next(CURLM *multi, struct slot *slot)
{
	char url[4096];
	if (fgets(url, sizeof(url), stdin) == NULL)
		return 0;
	url[strcspn(url, "\r\n")] = '\0';
	curl_easy_setopt(slot->easy, CURLOPT_URL, url);
	curl_multi_add_handle(multi, slot->easy);
	return 1;
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
	curl_easy_setopt(slot->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(slot->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
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
	CURLM *multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 16L);
	double started = now();
	size_t active = 0;
	for (size_t i = 0; i < concurrency; i++) {
		prepare(&slots[i], argv[1], argv[2]);
		active += (size_t)start_next(multi, &slots[i]);
	}
	unsigned long transfers = 0;
	unsigned long failures = 0;
	while (active > 0) {
		int running;
		int left;
		curl_multi_perform(multi, &running);
		for (CURLMsg *m = curl_multi_info_read(multi, &left); m != NULL;
			m = curl_multi_info_read(multi, &left)) {
			struct slot *slot = NULL;
			long status = 0;
			CURLcode rc = m->data.result;
			curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
			curl_easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &status);
			transfers++;
			failures += rc != CURLE_OK || status != 200;
			curl_multi_remove_handle(multi, slot->easy);
			active--;
			active += (size_t)start_next(multi, slot);
		}
		if (active > 0)
			curl_multi_poll(multi, NULL, 0, 100, NULL);
	}
	double wall = now() - started;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"transfers\":%lu,\"bytes\":%llu,\"failures\":%lu,\"cpu_seconds\":%.6f,\"wall_seconds\":%.6f}\n",
		transfers, total_bytes, failures, seconds(usage.ru_utime) + seconds(usage.ru_stime),
		wall);
	for (size_t i = 0; i < concurrency; i++) {
		curl_easy_cleanup(slots[i].easy);
		curl_slist_free_all(slots[i].connect_to);
	}
	curl_multi_cleanup(multi);
	free(slots);
	return failures > 0;
}
