/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl refs: Crossref's records to the tables crossref and grobid_refs, their references parsed
 * by GROBID.
 *
 * One loop: the input is read by a thread of libuv, GROBID and the store have what they can take of
 * the records under way, and nothing more is read while these are too many. A record is forgotten
 * once its rows are committed, so that after an end of whatever kind the same input can be given
 * again: rows of the same record are written over, those of a newer one stay.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "common/data/line_splitter.h"
#include "worker/conf/conf.h"
#include "worker/ctl/child.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/reexamine/refs_record.h"
#include "worker/grobid/grobid.h"
#include "worker/document/tei_header.h"
#include "worker/model/rows.h"
#include "worker/store/store.h"

#define VERB "refs"
#define BLOCK_BYTES 65536
#define MAX_LINE_BYTES ((size_t)32 << 20) /* a record with 10,000 references has some MB */
#define MAX_FORM_BYTES ((size_t)64 << 20)
#define PARSE_MS 60000
/* Under way: enough for the batches of the store, and for GROBID to be kept busy. */
#define MOST_RECORDS 1000
#define MOST_BYTES ((size_t)128 << 20)
#define SAY_MS 10000
#define DRAW_MS 500

struct refs {
	uv_loop_t loop;
	uv_timer_t say;
	uv_signal_t interrupt[2];
	const char *input_name;
	FILE *input;
	uv_fs_t read;
	char *block;
	struct ing_line_splitter lines;
	struct ing_grobid *grobid; /* NULL: --records-only */
	struct ing_store *store;   /* NULL: --print */
	struct item *items;        /* list: under way */
	unsigned item_count;
	size_t item_bytes;
	bool pumping, reading, ended, stopped, away, broken_output, on_terminal;
	uint64_t records, parsed, left_out; /* that are written: records, references */
	uint64_t bad, failed;
};

/* A record under way. */
struct item {
	struct item *prev, *next;
	struct refs *refs;
	struct ing_refs_record record;
	int64_t line;
	size_t bytes;
	struct ing_grobid_request request;
	struct ing_buf form;
	char *record_json, *refs_json; /* refs_json NULL: GROBID has failed */
	struct ing_row_crossref crossref;
	struct ing_row_grobid_refs refs_row;
	struct ing_rows rows;
	struct ing_store_item put;
};

static void pump(struct refs *r);

static void clear_line(const struct refs *r)
{
	if (r->on_terminal)
		fputs("\r\033[K", stderr);
}

static void complain(struct refs *r, int64_t line, const char *words)
{
	clear_line(r);
	fprintf(stderr, "%s:%" PRId64 ": %s\n", r->input_name, line, words);
}

/* --- the end of a record --- */

static void free_item(struct item *item)
{
	struct refs *r = item->refs;
	DL_DELETE(r->items, item);
	r->item_count--;
	r->item_bytes -= item->bytes;
	ing_grobid_cancel(&item->request);
	ing_refs_record_done(&item->record);
	ing_buf_done(&item->form);
	free(item->record_json);
	free(item->refs_json);
	free(item);
}

static void finish(struct item *item)
{
	struct refs *r = item->refs;
	r->records++;
	if (item->refs_json != NULL) {
		r->parsed += item->record.count;
		r->left_out += item->record.left_out;
	}
	free_item(item);
	pump(r);
}

static void on_stored(struct ing_store_item *put)
{
	finish(ING_CONTAINER(put, struct item, put));
}

static void print_row(struct refs *r, const struct item *item)
{
	json_t *o = json_object();
	ing_json_set_text(o, "source", item->refs_row.source);
	ing_json_set_text(o, "source_id", item->refs_row.source_id);
	ing_json_set_text(o, "source_ts", item->refs_row.source_ts);
	ing_json_set(o, "refs_json",
		ing_json_parse(item->refs_json, strlen(item->refs_json), &ing_json_own, NULL));
	ing_ctl_json_print(o);
	r->broken_output |= ferror(stdout) != 0;
}

static void write_rows(struct item *item)
{
	struct refs *r = item->refs;
	item->refs_row = (struct ing_row_grobid_refs){.source = "crossref",
		.source_id = item->record.doi,
		.source_ts = item->record.indexed,
		.refs_json = item->refs_json};
	if (r->store == NULL) {
		if (item->refs_json != NULL)
			print_row(r, item);
		finish(item);
		return;
	}
	item->record_json = ing_json_dump(item->record.record, NULL);
	item->crossref = (struct ing_row_crossref){.doi = item->record.doi,
		.indexed = item->record.indexed,
		.record_json = item->record_json};
	item->rows = (struct ing_rows){.crossref = &item->crossref,
		.crossref_count = 1,
		.grobid_refs = &item->refs_row,
		.grobid_refs_count = item->refs_json != NULL ? 1 : 0};
	item->put = (struct ing_store_item){.done = on_stored, .rows = &item->rows};
	ing_store_put(r->store, &item->put);
}

/* --- references --- */

struct answer {
	char *data;
	size_t bytes;
	const char *content_type;
};

/* In the child. */
static void parse_answer(void *ctx, struct ing_buf *out)
{
	const struct answer *a = ctx;
	struct ing_error err = {0};
	json_t *list = ing_tei_read_references(a->data, a->bytes, a->content_type, &err);
	json_t *o = json_object();
	if (list != NULL)
		ing_json_set(o, "list", list);
	else
		ing_json_set_text(o, "error", err.msg);
	ing_json_add(out, o);
	json_decref(o);
}

/* Heap; NULL when it cannot be read back. */
static char *read_answer(const struct ing_grobid_answer *a)
{
	char *data = ing_alloc((size_t)a->bytes + 1);
	for (size_t at = 0; at < a->bytes;) {
		ssize_t n = pread(a->fd, data + at, (size_t)a->bytes - at, (off_t)at);
		if (n <= 0) {
			free(data);
			return NULL;
		}
		at += (size_t)n;
	}
	return data;
}

/* The list, a new reference; NULL with words in *err. */
static json_t *take_list(struct ing_grobid_answer *a, struct ing_error *err)
{
	struct answer in = {
		.data = read_answer(a), .bytes = (size_t)a->bytes, .content_type = a->content_type};
	struct ing_buf out = {0};
	json_t *list = NULL;
	if (in.data == NULL)
		ing_error_set(err, ING_FAIL_SYSTEM, "its answer cannot be read back");
	else if (ing_ctl_child(parse_answer, &in, PARSE_MS, &out, err) == 0) {
		json_t *o = ing_json_parse(ing_buf_str(&out), out.len, &ing_json_own, err);
		const char *words = ing_json_get_text(o, "error");
		list = ing_json_ref(json_object_get(o, "list"));
		if (words != NULL)
			ing_error_set(err, ING_FAIL_INVALID, "%s", words);
		json_decref(o);
	}
	ing_buf_done(&out);
	free(in.data);
	return list;
}

static void fail_references(struct item *item, const char *status, const char *words)
{
	char line[400];
	item->refs->failed++;
	snprintf(line, sizeof(line), "%.100s: GROBID: %s: %.200s", item->record.doi, status, words);
	complain(item->refs, item->line, line);
}

static void on_answered(struct ing_grobid_request *request, struct ing_grobid_answer *a)
{
	struct item *item = ING_CONTAINER(request, struct item, request);
	struct refs *r = item->refs;
	struct ing_error err = {0};
	json_t *list = NULL;
	if (a->fd < 0) {
		fail_references(item, a->status, a->error_msg != NULL ? a->error_msg : "");
		r->away |= strcmp(a->status, "error-connect") == 0;
	} else {
		list = take_list(a, &err);
		if (list == NULL)
			fail_references(item, "bad-grobid-xml", err.msg);
		else if (!ing_refs_record_name(&item->record, list))
			fail_references(
				item, "bad-grobid-xml", "it has not answered for each reference");
		else
			item->refs_json = ing_json_dump(list, NULL);
	}
	json_decref(list);
	write_rows(item);
}

static void ask_grobid(struct item *item)
{
	ing_buf_init(&item->form, MAX_FORM_BYTES);
	for (size_t i = 0; i < item->record.count; i++)
		ing_grobid_form_add(&item->form, item->record.citations[i].text);
	if (item->form.failed) {
		fail_references(item, "blob-too-large", "the references are too long");
		write_rows(item);
		return;
	}
	item->request = (struct ing_grobid_request){.service = ING_GROBID_CITATIONS,
		.body = {.data = item->form.data, .bytes = item->form.len},
		.done = on_answered};
	ing_grobid_put(item->refs->grobid, &item->request);
}

/* --- the input --- */

static void take_line(struct refs *r, const struct ing_line *line)
{
	struct ing_error err = {0};
	struct ing_refs_record record = {0};
	int rc = line->bytes > MAX_LINE_BYTES
			 ? ing_error_set(&err, ING_FAIL_TOO_BIG, "over %zu bytes", MAX_LINE_BYTES)
			 : ing_refs_record_read(line->text, line->bytes, &record, &err);
	if (rc != 0) {
		r->bad++;
		complain(r, line->number, err.msg);
		return;
	}
	struct item *item = ing_alloc(sizeof(*item));
	*item = (struct item){
		.refs = r, .record = record, .line = line->number, .bytes = line->bytes};
	DL_APPEND(r->items, item);
	r->item_count++;
	r->item_bytes += line->bytes;
	if (r->grobid != NULL && record.count > 0)
		ask_grobid(item);
	else {
		item->refs_json = r->grobid != NULL ? ing_strdup("[]") : NULL;
		write_rows(item);
	}
}

static void on_read(uv_fs_t *read)
{
	struct refs *r = read->data;
	ssize_t n = read->result;
	uv_fs_req_cleanup(read);
	r->reading = false;
	if (n > 0)
		ing_line_splitter_feed(&r->lines, r->block, (size_t)n);
	else
		ing_line_splitter_end(&r->lines);
	r->ended = n <= 0;
	if (n < 0) {
		complain(r, r->lines.number, uv_strerror((int)n));
		r->stopped = r->broken_output = true;
	}
	pump(r);
}

static bool has_room(const struct refs *r)
{
	return r->item_count < MOST_RECORDS && r->item_bytes < MOST_BYTES;
}

static void read_on(struct refs *r)
{
	uv_buf_t to = uv_buf_init(r->block, BLOCK_BYTES);
	r->reading = true;
	r->read.data = r;
	uv_fs_read(&r->loop, &r->read, fileno(r->input), &to, 1, -1, on_read);
}

/* What was read goes on, then more is read, or it is over. Called from callbacks; finish() calls it
 * for records that need nobody, so that it may be running already. */
static void pump(struct refs *r)
{
	struct ing_line line;
	bool drained = false;
	if (r->pumping)
		return;
	r->pumping = true;
	while (!r->reading && has_room(r) && !r->stopped && !r->away && !r->broken_output) {
		drained = !ing_line_splitter_next(&r->lines, &line);
		if (drained)
			break;
		take_line(r, &line);
	}
	r->pumping = false;
	if (drained && !r->ended)
		read_on(r);
	bool over = (drained && r->ended) || r->stopped || r->away || r->broken_output;
	if (over && r->item_count == 0)
		uv_stop(&r->loop);
}

/* --- what is said --- */

static void say(const struct refs *r, const char *end)
{
	fprintf(stderr, "ingestctl refs: %" PRIu64 " record%s, %" PRIu64 " reference%s parsed",
		r->records, ING_PLURAL_S(r->records), r->parsed, ING_PLURAL_S(r->parsed));
	if (r->left_out > 0)
		fprintf(stderr, " (%" PRIu64 " over %zu of a record left out)", r->left_out,
			ING_REFS_MOST);
	if (r->failed > 0)
		fprintf(stderr, ", %" PRIu64 " without references as GROBID failed", r->failed);
	if (r->bad > 0)
		fprintf(stderr, ", %" PRIu64 " bad line%s skipped", r->bad, ING_PLURAL_S(r->bad));
	if (r->store != NULL && ing_store_blocked(r->store))
		fputs("; waiting for the database", stderr);
	fputs(end, stderr);
}

static void on_say(uv_timer_t *timer)
{
	const struct refs *r = timer->data;
	clear_line(r);
	say(r, r->on_terminal ? "" : "\n");
}

/* The first asks for an end, the second does not wait for it. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct refs *r = handle->data;
	(void)number;
	if (r->stopped)
		uv_stop(&r->loop);
	r->stopped = true;
	pump(r);
}

/* --- start and end --- */

static int open_services(struct refs *r, const struct ing_conf *conf, bool print, bool records_only)
{
	struct ing_error err = {0};
	if (!print && ing_store_new(&r->loop, &conf->postgres, &r->store, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	const struct ing_grobid_conf grobid = {
		.settings = conf->grobid, .user_agent = conf->fetch.user_agent};
	if (!records_only && ing_grobid_new(&r->loop, &grobid, &r->grobid, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	return ING_CTL_OK;
}

static void start_loop(struct refs *r)
{
	static const int signals[] = {SIGINT, SIGTERM};
	int rc = uv_loop_init(&r->loop);
	ing_must(rc == 0);
	uv_timer_init(&r->loop, &r->say);
	r->say.data = r;
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++) {
		uv_signal_init(&r->loop, &r->interrupt[i]);
		r->interrupt[i].data = r;
		uv_signal_start(&r->interrupt[i], on_signal, signals[i]);
	}
}

static int exit_code(const struct refs *r)
{
	if (r->broken_output || r->away)
		return ING_CTL_ENVIRONMENT;
	if (r->stopped)
		return ING_CTL_INTERRUPTED;
	return r->bad + r->failed > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static void close_all(struct refs *r)
{
	while (r->items != NULL)
		free_item(r->items);
	ing_grobid_free(r->grobid);
	ing_store_free(r->store);
	uv_close((uv_handle_t *)&r->say, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(r->interrupt); i++)
		uv_close((uv_handle_t *)&r->interrupt[i], NULL);
	uv_run(&r->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&r->loop);
	ing_line_splitter_done(&r->lines);
	free(r->block);
}

static int work(struct refs *r, const struct ing_conf *conf, bool print, bool records_only)
{
	start_loop(r);
	ing_line_splitter_init(&r->lines, MAX_LINE_BYTES);
	r->block = ing_alloc(BLOCK_BYTES);
	r->on_terminal = isatty(STDERR_FILENO) == 1;
	int code = open_services(r, conf, print, records_only);
	if (code == ING_CTL_OK) {
		unsigned every_ms = r->on_terminal ? DRAW_MS : SAY_MS;
		uv_timer_start(&r->say, on_say, every_ms, every_ms);
		read_on(r);
		uv_run(&r->loop, UV_RUN_DEFAULT);
		clear_line(r);
		say(r, r->stopped ? "; interrupted\n" : "\n");
		code = exit_code(r);
	}
	if (!ing_ctl_flush_stdout(VERB))
		code = ING_CTL_ENVIRONMENT;
	/* A thread of libuv that waits for input cannot be called off, and would be waited for. */
	if (r->reading)
		_exit(code);
	close_all(r);
	return code;
}

static int check_conf(const struct ing_conf *conf, bool print, bool records_only)
{
	if (!records_only && conf->grobid.url == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "grobid.url is not set");
	if (!print && conf->postgres.dsn[0] == '\0')
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "postgres.dsn is not set (--print needs none)");
	return ING_CTL_OK;
}

static const struct ing_option options[] = {
	{"print", NULL, "print the rows of grobid_refs as JSON lines; no database is used",
		.code = 'p'},
	{"records-only", NULL, "write the rows of crossref only; GROBID is not asked", .code = 'r'},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_refs_usage = {
	.name = "refs",
	.synopsis = "[--print | --records-only] FILE|-",
	.summary = "have GROBID parse the references of Crossref's records",
	.text = "Reads records of works (JSON lines, as Crossref's API has them), has GROBID (grobid.url) parse "
		"the references that are strings without a DOI, and writes rows of the tables crossref and "
		"grobid_refs. The same input may be given again: rows of newer records stay.",
	.details =
		"GROBID parses those references that are strings of over six characters without a DOI, a "
		"journal with volume and first page, or year, author and a title; at most 2,000 of a record. A "
		"record whose references GROBID could not parse is named, and its row of crossref is written. "
		"When GROBID cannot be reached the command ends.",
	.options = options,
	.exits = {"all was written",
		"some lines were bad, or GROBID failed for some records (whose rows of crossref are written)",
		ING_EXIT_USAGE, "a file, GROBID or the database cannot be reached",
		ING_EXIT_INTERRUPTED},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_refs(int argc, char **argv, const struct ing_ctl *ctl)
{
	bool print = false;
	bool records_only = false;
	for (int c; (c = ing_usage_next(&ing_ctl_refs_usage, argc, argv)) != -1;) {
		if (c != 'p' && c != 'r')
			return ing_usage_code(c);
		print |= c == 'p';
		records_only |= c == 'r';
	}
	if (argc - optind != 1 || (print && records_only))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"expected one file, and at most one of --print and --records-only");
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	struct refs r = {.input_name = argv[optind]};
	code = check_conf(conf, print, records_only);
	if (code == ING_CTL_OK) {
		r.input = ing_ctl_open_input(VERB, argv[optind]);
		code = r.input != NULL ? work(&r, conf, print, records_only) : ING_CTL_ENVIRONMENT;
		if (r.input != NULL)
			ing_ctl_close_input(r.input);
	}
	ing_conf_free(conf);
	return code;
}
