# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Where downloaded parts are kept and which versions they have. Sourced by deploy/ and tests/.

ING_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ingest-worker
ING_VENV=$ING_CACHE/venv
ING_KAFKA_VERSION=3.9.1
ING_KAFKA_DIR=$ING_CACHE/kafka-$ING_KAFKA_VERSION
ING_JSOUP_VERSION=1.16.1
ING_JSOUP_JAR=$ING_CACHE/jsoup-$ING_JSOUP_VERSION.jar
ING_JWARC_VERSION=0.36.0
ING_JWARC_JAR=$ING_CACHE/jwarc-$ING_JWARC_VERSION.jar
export ING_CACHE ING_VENV ING_KAFKA_VERSION ING_KAFKA_DIR ING_JSOUP_VERSION ING_JSOUP_JAR ING_JWARC_VERSION ING_JWARC_JAR
