/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * certificate.h - says why a broker's certificate is refused: librdkafka's own errors say only that it is.
 * Nothing is accepted or refused otherwise than by librdkafka. In librdkafka's threads.
 */
#pragma once

struct rd_kafka_conf_s;

/* From then on the log has a warning, once a minute at most, with the broker and OpenSSL's reason. */
void ing_kafka_watch_certificates(struct rd_kafka_conf_s *conf);
