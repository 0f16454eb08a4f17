/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingest-examiner: started by the worker's pool with a control socket as descriptor 3; of no use by
 * hand.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/examine/ipc.h"
#include "worker/examine/zygote.h"

/* Blocks above this are given back to the kernel when freed: one large document must not stay in
 * an examiner's memory for the rest of its life, as it would with the C library's growing
 * threshold. */
#define MMAP_THRESHOLD_BYTES (1 << 20)
/* Free memory that an examiner keeps for its next document. With the C library's 128 KiB a page's
 * tree is given back and faulted in again for every page: half of the time that parsing takes. */
#define TRIM_THRESHOLD_BYTES (8 << 20)

#ifdef ING_SANITIZED
/* Leaks are no concern of processes that end by _exit(), and their checker cannot work inside the
 * sandbox; a hostile size is to be refused, not reported. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024";
}
#endif

static void print_usage(FILE *to)
{
	fputs("usage: ingest-examiner [--memory BYTES] [--timeout MS] [--rules] [--stderr]\n"
	      "Started by ingest-worker and ingestctl, with a control socket as descriptor 3.\n"
	      "  --memory BYTES  address space of one examiner; 0: no limit\n"
	      "  --timeout MS    the longest that a PDF may be read; 0: no limit\n"
	      "  --rules         the scraping rules are to be read from descriptor 4\n"
	      "  --prove-sandbox try whether an examiner can close its sandbox here, say what it cannot, and end\n"
	      "  --stderr        let examiners write to standard error (hostile text)\n",
		to);
}

static bool is_packet_socket(int fd)
{
	int type = 0;
	socklen_t bytes = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

static bool parse_number(const char *text, size_t max, size_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || v > max)
		return false;
	*ret = (size_t)v;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"memory", required_argument, NULL, 'm'},
		{"timeout", required_argument, NULL, 't'}, {"rules", no_argument, NULL, 'r'},
		{"stderr", no_argument, NULL, 'e'}, {"prove-sandbox", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'}, {0}};
	struct ing_zygote_conf conf = {0};
	size_t timeout_ms = 0;
	bool proves = false;
	for (;;) {
		int option = getopt_long(argc, argv, "", options, NULL);
		if (option == -1)
			break;
		if (option == 'h') {
			print_usage(stdout);
			return 0;
		}
		if (option == 'r') {
			conf.rules = true;
		} else if (option == 'e') {
			conf.keep_stderr = true;
		} else if (option == 'p') {
			proves = true;
		} else if (!(option == 'm' &&
				   parse_number(optarg, SIZE_MAX / 2, &conf.memory_bytes)) &&
			   !(option == 't' && parse_number(optarg, INT_MAX, &timeout_ms))) {
			print_usage(stderr);
			return ING_EXIT_USAGE;
		}
	}
	if (optind == argc && proves)
		return ing_zygote_prove(&conf);
	if (optind != argc || !is_packet_socket(ING_ZYGOTE_FD)) {
		print_usage(stderr);
		return ING_EXIT_USAGE;
	}
	conf.timeout_ms = (unsigned)timeout_ms;
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
	mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
	int code = ing_zygote_run(&conf);
	fflush(NULL);
	_exit(code);
}
