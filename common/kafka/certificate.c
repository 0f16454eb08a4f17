/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A callback in the verification of a broker's certificate, which leaves the decision as it is.
 */
#include "common/kafka/certificate.h"

#include <librdkafka/rdkafka.h>
#include <openssl/x509_vfy.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"

#define SAY_EVERY_MS 60000

/* A worker has several clients, each with a thread for each broker: one of them says it. */
static bool may_say(void)
{
	static _Atomic uint64_t next_ms;
	uint64_t now = ing_now_ms();
	uint64_t due = atomic_load(&next_ms);
	return now >= due && atomic_compare_exchange_strong(&next_ms, &due, now + SAY_EVERY_MS);
}

/* @locality librdkafka's threads. *x509_error: 0, or why OpenSSL refuses the certificate at that depth. */
static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t id, int *x509_error,
	int depth, const char *der, size_t bytes, char *reason, size_t reason_bytes, void *ctx)
{
	(void)rk, (void)id, (void)der, (void)bytes, (void)ctx;
	if (*x509_error == 0)
		return 1;
	const char *why = X509_verify_cert_error_string(*x509_error);
	snprintf(reason, reason_bytes, "%s", why);
	if (may_say())
		ing_log(ING_LOG_WARNING, "Kafka: %s: the certificate%s is refused: %s", broker,
			depth > 0 ? " of its authority" : "", why);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_watch_certificates(struct rd_kafka_conf_s *conf)
{
	/* Fails only for a librdkafka without TLS, in which there is nothing to watch. */
	(void)rd_kafka_conf_set_ssl_cert_verify_cb(conf, on_certificate);
}
