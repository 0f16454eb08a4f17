/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who writes where. Set up before threads start and constant after, but for the count of lines that
 * nobody had room for.
 */
#include "common/base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log_line.h"

static struct ing_log_conf conf = {.max_level = ING_LOG_INFO};
static bool under_journald;
static atomic_uint left_out;

/* $JOURNAL_STREAM has the device and inode of the journal's stream; stderr may be another file. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device = 0, inode = 0;
	struct stat st;
	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* A pipe has room for a whole line then, and a socket of the journal, too. */
static bool stderr_has_room(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	return poll(&p, 1, 0) != 0;
}

static void write_record(const struct ing_log_record *r, enum ing_log_format format)
{
	char line[ING_LOG_LINE_BYTES];
	size_t n =
		format == ING_LOG_FORMAT_JSON
			? ing_log_json_line(r, ing_wall_now(), under_journald, line, sizeof(line))
			: ing_log_text_line(r, ing_wall_now(), under_journald, line, sizeof(line));
	ssize_t ignored = write(STDERR_FILENO, line, n);
	(void)ignored; /* nowhere left to complain */
}

static void write_left_out(enum ing_log_format format)
{
	unsigned count = atomic_exchange(&left_out, 0);
	char text[100];
	if (count == 0)
		return;
	int n = snprintf(text, sizeof(text),
		"%u line%s of the log left out: who reads them is slow", count,
		ING_PLURAL_S(count));
	write_record(&(struct ing_log_record){.level = ING_LOG_WARNING,
			     .instance = conf.instance,
			     .message = text,
			     .message_bytes = (size_t)n},
		format);
}

static void emit(const struct ing_log_record *r)
{
	enum ing_log_format format = conf.format;
	if (format == ING_LOG_FORMAT_JOURNAL) {
		if (conf.journal != NULL && conf.journal(r))
			return;
		format = ING_LOG_FORMAT_TEXT;
	}
	if (conf.never_wait && !stderr_has_room()) {
		atomic_fetch_add(&left_out, 1);
		return;
	}
	if (atomic_load_explicit(&left_out, memory_order_relaxed) > 0) {
		write_left_out(format);
		if (conf.never_wait && !stderr_has_room()) {
			atomic_fetch_add(&left_out, 1);
			return;
		}
	}
	write_record(r, format);
}

static void emit_formatted(enum ing_log_level level, const struct ing_log_field *fields,
	size_t count, const char *fmt, va_list ap)
{
	char text[ING_LOG_LINE_BYTES];
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t bytes = n < 0 ? 0 : (size_t)n;
	emit(&(struct ing_log_record){.level = level,
		.instance = conf.instance != NULL ? conf.instance : "",
		.message = text,
		.message_bytes = ING_MIN(bytes, sizeof(text) - 1),
		.cut = bytes >= sizeof(text),
		.fields = fields,
		.field_count = count});
}

static void log_broken(const char *text)
{
	conf.never_wait = false; /* the last line */
	ing_log(ING_LOG_FATAL, "%s", text);
}

/* -------------------------------------------------------------------------------------------- */

void ing_log_init(enum ing_log_level max_level)
{
	ing_log_setup(&(struct ing_log_conf){.max_level = max_level});
}

void ing_log_setup(const struct ing_log_conf *given)
{
	conf = *given;
	if (conf.instance == NULL)
		conf.instance = "";
	under_journald = stderr_is_journal();
	ing_must_tell = log_broken;
}

bool ing_log_wants(enum ing_log_level level)
{
	return level <= conf.max_level;
}

void ing_log(enum ing_log_level level, const char *fmt, ...)
{
	if (!ing_log_wants(level))
		return;
	va_list ap;
	va_start(ap, fmt);
	emit_formatted(level, NULL, 0, fmt, ap);
	va_end(ap);
}

void ing_log_fields(enum ing_log_level level, const struct ing_log_field *fields, size_t count,
	const char *fmt, ...)
{
	if (!ing_log_wants(level))
		return;
	va_list ap;
	va_start(ap, fmt);
	emit_formatted(level, fields, count, fmt, ap);
	va_end(ap);
}

bool ing_log_throttle_pass(
	struct ing_log_throttle *gate, uint64_t every_ms, unsigned *ret_suppressed)
{
	uint64_t now = ing_now_ms();
	if (gate->next_ms != 0 && now < gate->next_ms) {
		gate->suppressed++;
		return false;
	}
	*ret_suppressed = gate->suppressed;
	gate->suppressed = 0;
	gate->next_ms = now + every_ms;
	return true;
}

bool ing_log_throttled(struct ing_log_throttle *gate, uint64_t every_ms, enum ing_log_level level,
	const char *fmt, ...)
{
	unsigned suppressed;
	if (!ing_log_wants(level) || !ing_log_throttle_pass(gate, every_ms, &suppressed))
		return false;
	va_list ap;
	va_start(ap, fmt);
	emit_formatted(level, &ING_LOG_FIELD_SUPPRESSED(suppressed), 1, fmt, ap);
	va_end(ap);
	return true;
}
