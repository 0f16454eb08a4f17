/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is concluded of a request's life: which of several findings decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "worker/ctl/explain/explain.h"

#define RESULT(members) "{\"result\":{\"host\":\"a.example\"," members

static const struct {
	const char *name, *life;
	const char *say, *run; /* parts of any entry, or NULL */
} cases[] = {
	{"nothing", "{}", "Nobody here knows it", NULL},
	{"stored only", "{\"request\":{\"base_url\":\"u\"}}", "never put onto a topic",
		"ingestctl requests lists"},
	{"planned", "{\"queued\":{\"plan\":\"p\",\"topic\":\"t\",\"unsent\":true}}",
		"has not been sent to t yet", "ingestctl requests enqueue --list p"},
	{"sent", "{\"queued\":{\"plan\":\"p\",\"topic\":\"t\",\"unsent\":false}}",
		"Plan p has put it onto t", "ingestctl status"},
	{"in a lane",
		"{\"queued\":{\"plan\":\"p\"},\"waiting\":[{\"topic\":\"t\",\"partition\":3,"
		"\"offset\":9,\"time\":\"2026\"}]}",
		"It waits in t, partition 3, offset 9", "ingestctl status"},
	{"in a worker",
		"{\"waiting\":[{\"topic\":\"t\"}],\"workers\":[{\"instance\":\"w\",\"state_words\":"
		"\"x\",\"visits\":[{\"host\":\"a.example\",\"for\":\"host\"}]}]}",
		"It is under way in w (x)", "ingestctl hosts explain a.example"},
	{"in a worker, by order",
		"{\"workers\":[{\"instance\":\"w\",\"state_words\":\"x\",\"visits\":"
		"[{\"host\":\"a.example\",\"for\":\"order\"}]}]}",
		"It is in w, and waits until an operator's order is taken back", "ingestctl fleet"},
	{"in a worker that is blocked",
		"{\"workers\":[{\"instance\":\"w\",\"blocked_by\":\"disk\",\"visits\":[]}]}",
		"That worker waits for its disk", "ingestctl status"},
	{"stored, not committed",
		"{\"outbox\":{\"topic\":\"t\",\"partition\":1},\"parked\":[{\"due\":\"soon\"}]}",
		"not yet committed", "ingestctl status"},
	{"committed, row not pruned yet",
		RESULT("\"status\":\"success\",\"hit\":true}") ",\"outbox\":{\"topic\":\"t\"},"
							       "\"results\":[{\"time\":\"2\"}]}",
		"It was a hit", NULL},
	{"parked",
		RESULT("\"status\":\"connect-error\",\"hit\":false}") ",\"parked\":[{\"topic\":\"p\","
								      "\"due\":\"2026-11-23T08:00:00Z\",\"host\":\"b.example\",\"time\":\"2\"}],"
								      "\"results\":[{\"time\":\"1\"}]}",
		"parked in p until 2026-11-23T08:00:00Z", "ingestctl hosts explain b.example"},
	{"parked earlier, answered since",
		RESULT("\"status\":\"no-pdf-link\",\"hit\":false}") ",\"parked\":[{\"topic\":\"p\",\"time\":\"1\"}],\"results\":[{\"time\":\"2\"}]}",
		"It ended as no-pdf-link", NULL},
	{"dead", "{\"dead_letters\":[{\"partition\":2,\"offset\":7,\"error\":\"bad\"}]}",
		"It is a dead letter: bad", "ingestctl dead show 2:7"},
	{"worth asking again",
		RESULT("\"status\":\"read-timeout\",\"hit\":false,\"next_try\":\"tomorrow\"}") "}",
		"worth asking again from tomorrow on", "ingestctl hosts explain a.example"},
	{"not worth it", RESULT("\"status\":\"body-too-large\",\"hit\":false}") "}",
		"force_recrawl", NULL},
	{"robots", RESULT("\"status\":\"skip-robots\",\"hit\":false}") "}", "robots.txt says",
		"ingestctl hosts explain a.example"},
	{"blocked", RESULT("\"status\":\"skip-url-blocklist\",\"hit\":false}") "}", NULL,
		"ingestctl hosts blocks"},
	{"our own trouble",
		RESULT("\"status\":\"worker-error\",\"hit\":false,\"visits\":{\"instance\":\"w\"}}") "}",
		"What its worker logged", "journalctl INGEST_INSTANCE=w"},
	{"a status of another program", RESULT("\"status\":\"no-capture\",\"hit\":false}") "}",
		"a status of another program", NULL},
	{"a result in the topic alone",
		"{\"results\":[{\"status\":\"success\",\"hit\":true,\"time\":\"1\"}]}",
		"It was a hit", NULL},
	{"its bytes here",
		RESULT("\"status\":\"success\",\"hit\":true,\"terminal_sha1hex\":\"aa\"}") ",\"captures\":[{\"sha1hex\":\"bb\",\"warc_path\":\"x\",\"warc_offset\":1},{"
											   "\"sha1hex\":\"aa\",\"file\":\"/w/y\",\"warc_offset\":5,\"record_type\":\"response\"}]}",
		"Its document:", "ingestctl warc cat /w/y 5"},
	{"its bytes elsewhere",
		RESULT("\"status\":\"success\",\"hit\":true,\"terminal_sha1hex\":\"aa\"}") ",\"captures\":[{\"sha1hex\":\"aa\",\"warc_path\":\"y\",\"file\":null,"
											   "\"warc_offset\":5}]}",
		"not on this machine", "ingestctl warc cat y 5"},
	{"its bytes in an earlier record",
		RESULT("\"status\":\"success\",\"hit\":true,\"terminal_sha1hex\":\"aa\"}") ",\"captures\":[{\"sha1hex\":\"aa\",\"file\":\"/w/y\",\"record_type\":\"revisit\"}]}",
		"the same as an earlier one", "ingestctl warc cat /w/y 0"},
};

static bool has(const json_t *list, const char *member, const char *part)
{
	size_t i;
	const json_t *entry;
	json_array_foreach (list, i, entry) {
		const char *text = ing_json_get_text(entry, member);
		if (text != NULL && strstr(text, part) != NULL)
			return true;
	}
	return false;
}

static void test_what_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		json_t *life =
			ing_json_parse(cases[i].life, strlen(cases[i].life), &ing_json_own, NULL);
		print_message("%s\n", cases[i].name);
		assert_non_null(life);
		json_t *next = ing_explain_next("id", life);
		assert_true(json_array_size(next) > 0);
		assert_true(cases[i].say == NULL || has(next, "say", cases[i].say));
		if (cases[i].run != NULL)
			assert_true(has(next, "run", cases[i].run));
		json_decref(next);
		json_decref(life);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_decides)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
