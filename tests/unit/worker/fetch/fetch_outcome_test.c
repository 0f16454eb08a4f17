/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What curl's codes and our own reasons mean, and whether another try is worth it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "worker/fetch/fetch_priv.h"

/* before the request was sent; before the head was whole; after it */
static const struct {
	bool sent;
	enum ing_http_state head;
} phases[3] = {{false, ING_HTTP_EMPTY}, {true, ING_HTTP_OPEN}, {true, ING_HTTP_DONE}};

static void every_row(void **state)
{
	(void)state;
#define SAME(status)                                                                               \
	{                                                                                          \
		ING_STATUS_##status, ING_STATUS_##status, ING_STATUS_##status                      \
	}
#define ROW(a, b, c)                                                                               \
	{                                                                                          \
		ING_STATUS_##a, ING_STATUS_##b, ING_STATUS_##c                                     \
	}
#define LOST ROW(CONNECT_ERROR, READ_ERROR, TRUNCATED_BODY)
#define GARBAGE ROW(CONNECT_ERROR, READ_ERROR, READ_ERROR)
	static const struct {
		CURLcode rc;
		enum ing_status want[3];
		bool transient;
	} cases[] = {
		{CURLE_URL_MALFORMAT, SAME(INVALID_URL), false},
		{CURLE_COULDNT_RESOLVE_HOST, SAME(INVALID_HOST_RESOLUTION), false},
		{CURLE_COULDNT_RESOLVE_PROXY, SAME(CONNECT_ERROR), false},
		{CURLE_COULDNT_CONNECT, SAME(CONNECT_ERROR), true},
		{CURLE_PROXY, SAME(CONNECT_ERROR), false},
		{CURLE_SSL_CONNECT_ERROR, SAME(TLS_ERROR), false},
		{CURLE_PEER_FAILED_VERIFICATION, SAME(TLS_ERROR), false},
		{CURLE_SSL_CACERT_BADFILE, SAME(WORKER_ERROR), true},
		{CURLE_SSL_CERTPROBLEM, SAME(TLS_ERROR), false},
		{CURLE_SSL_CIPHER, SAME(TLS_ERROR), false},
		{CURLE_SSL_CLIENTCERT, SAME(TLS_ERROR), false},
		{CURLE_SSL_CRL_BADFILE, SAME(WORKER_ERROR), true},
		{CURLE_FAILED_INIT, SAME(WORKER_ERROR), true},
		{CURLE_SSL_ENGINE_INITFAILED, SAME(TLS_ERROR), false},
		{CURLE_SSL_ENGINE_NOTFOUND, SAME(TLS_ERROR), false},
		{CURLE_SSL_ENGINE_SETFAILED, SAME(TLS_ERROR), false},
		{CURLE_SSL_INVALIDCERTSTATUS, SAME(TLS_ERROR), false},
		{CURLE_SSL_ISSUER_ERROR, SAME(TLS_ERROR), false},
		{CURLE_SSL_PINNEDPUBKEYNOTMATCH, SAME(TLS_ERROR), false},
		{CURLE_USE_SSL_FAILED, SAME(TLS_ERROR), false},
		{CURLE_OPERATION_TIMEDOUT, ROW(CONNECT_ERROR, READ_TIMEOUT, READ_TIMEOUT), true},
		{CURLE_OUT_OF_MEMORY, ROW(WORKER_ERROR, HEADERS_TOO_LARGE, WORKER_ERROR), false},
		{CURLE_PARTIAL_FILE, LOST, true},
		{CURLE_RECV_ERROR, LOST, true},
		{CURLE_SEND_ERROR, LOST, true},
		{CURLE_SEND_FAIL_REWIND, LOST, true},
		{CURLE_GOT_NOTHING, LOST, true},
		{CURLE_SSL_SHUTDOWN_FAILED, LOST, true},
		{CURLE_WEIRD_SERVER_REPLY, GARBAGE, false},
		{CURLE_UNSUPPORTED_PROTOCOL, GARBAGE, false},
		{CURLE_BAD_CONTENT_ENCODING, GARBAGE, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases) * 3; i++) {
		CURLcode rc = cases[i / 3].rc;
		struct ing_outcome got = ing_outcome_of_curl(
			rc, phases[i % 3].sent, phases[i % 3].head, curl_easy_strerror(rc));
		if (got.status != cases[i / 3].want[i % 3] ||
			got.transient != cases[i / 3].transient)
			fail_msg("%s, phase %zu: %d, transient %d", curl_easy_strerror(rc), i % 3,
				(int)got.status, got.transient);
	}
}

static void whole_and_cut_short(void **state)
{
	(void)state;
	struct ing_outcome got = ing_outcome_of_curl(CURLE_OK, true, ING_HTTP_DONE, "");
	assert_true(got.status == ING_STATUS_SUCCESS && !got.transient);
	got = ing_outcome_of_curl(CURLE_OK, true, ING_HTTP_OPEN, "");
	assert_true(got.status == ING_STATUS_READ_ERROR && got.transient);
	got = ing_outcome_of_curl(CURLE_OK, true, ING_HTTP_EMPTY, "");
	assert_true(got.status == ING_STATUS_READ_ERROR && got.transient);
}

/* One code, several meanings. */
static void error_text_decides(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		CURLcode rc;
		int phase;
		const char *detail;
		enum ing_status want;
		bool transient;
	} cases[] = {
		{.rc = CURLE_SSL_CONNECT_ERROR,
			.detail = "OpenSSL SSL_connect: Connection reset by peer in connection to a:443 ",
			.want = ING_STATUS_TLS_ERROR, .transient = true},
		{.rc = CURLE_SSL_CONNECT_ERROR, .detail = "Recv failure: Connection reset by peer",
			.want = ING_STATUS_TLS_ERROR, .transient = true},
		{.rc = CURLE_SSL_CONNECT_ERROR,
			.detail = "error:0A000126:SSL routines::unexpected eof while reading",
			.want = ING_STATUS_TLS_ERROR, .transient = true},
		{.rc = CURLE_SSL_CONNECT_ERROR,
			.detail = "error:0A00010B:SSL routines::wrong version number",
			.want = ING_STATUS_TLS_ERROR},
		{.rc = CURLE_PEER_FAILED_VERIFICATION,
			.detail = "SSL certificate problem: certificate has expired",
			.want = ING_STATUS_TLS_ERROR},
		{.rc = CURLE_RECV_ERROR, .phase = 2,
			.detail = "Recv failure: Connection reset by peer",
			.want = ING_STATUS_TRUNCATED_BODY, .transient = true},
		{.rc = CURLE_RECV_ERROR, .phase = 1,
			.detail = "Too large response headers: 307300 > 307200",
			.want = ING_STATUS_HEADERS_TOO_LARGE},
		{.rc = CURLE_RECV_ERROR, .phase = 2,
			.detail = "Illegal or missing hexadecimal sequence in chunked-encoding",
			.want = ING_STATUS_READ_ERROR},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		int phase = cases[i].phase;
		struct ing_outcome got = ing_outcome_of_curl(
			cases[i].rc, phases[phase].sent, phases[phase].head, cases[i].detail);
		if (got.status != cases[i].want || got.transient != cases[i].transient)
			fail_msg("%s: %d, transient %d", cases[i].detail, (int)got.status,
				got.transient);
	}
}

/* Every code has an outcome, whatever it is and whenever it comes. */
static void no_code_is_left_out(void **state)
{
	(void)state;
	for (int rc = 1; rc < CURL_LAST; rc++) {
		enum ing_status early =
			ing_outcome_of_curl((CURLcode)rc, false, ING_HTTP_EMPTY, "").status;
		enum ing_status late =
			ing_outcome_of_curl((CURLcode)rc, true, ING_HTTP_DONE, "").status;
		assert_true(early != ING_STATUS_SUCCESS && late != ING_STATUS_SUCCESS);
		assert_true(early != ING_STATUS_READ_TIMEOUT && early != ING_STATUS_TRUNCATED_BODY);
	}
}

static void reasons_of_ours(void **state)
{
	(void)state;
	static const struct {
		enum ing_transfer_abort abort;
		bool transient;
	} cases[] = {{ING_ABORT_ADDRESS, false}, {ING_ABORT_HEAD, false},
		{ING_ABORT_FRAMING, false}, {ING_ABORT_TOO_LARGE, false}, {ING_ABORT_SPOOL, true},
		{ING_ABORT_LIMIT, true}, {ING_ABORT_STALL, true}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_outcome_abort_is_transient(cases[i].abort) != cases[i].transient)
			fail_msg("reason %d", (int)cases[i].abort);
}

static void only_the_certificate(void **state)
{
	(void)state;
	for (int rc = 0; rc < CURL_LAST; rc++) {
		bool want = rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_ISSUER_ERROR ||
			    rc == CURLE_SSL_INVALIDCERTSTATUS;
		assert_int_equal(ing_outcome_is_unverified((CURLcode)rc), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(whole_and_cut_short),
		cmocka_unit_test(error_text_decides),
		cmocka_unit_test(no_code_is_left_out),
		cmocka_unit_test(reasons_of_ours),
		cmocka_unit_test(only_the_certificate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
