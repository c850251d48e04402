// `connects`: sessions of one query each, `parallel` of them at a time: connect, startup, query, Terminate, close.
#define _GNU_SOURCE
#include "load.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
  int fd;
  enum { CONNECTING, REQUESTING, SECURING, STARTING, ASKING } step;
  framer frame;
  int64_t begun_ns;
} passing;

static int poller;
static target to;
static uint8_t startup[1024], query[64], terminate[HEAD];
static size_t startup_length;
static uint64_t failures;
static histogram latencies;

static void begin(passing *session) {
  session->step = CONNECTING;
  session->frame.have = 0;
  session->begun_ns = now_ns();
  for (int times = 0; (session->fd = begin_connect(&to)) < 0; times += 1) {
    failures += 1;
    if (times == 1000) fail("connect");
  }
  struct epoll_event event = {.events = EPOLLOUT, .data.ptr = session};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, session->fd, &event) != 0) fail("epoll");
}

static bool send_all(int fd, const uint8_t *bytes, size_t length) { return transmit(fd, bytes, length) == (ssize_t)length; }

enum outcome { ON, DONE, FAILED };

static enum outcome hear(passing *session) {
  uint8_t buffer[4096];
  ssize_t size = receive(session->fd, buffer, sizeof buffer);
  if (size < 0 && errno == EAGAIN) return ON;
  if (size <= 0) return FAILED;
  const uint8_t *at = buffer;
  for (int type; (type = next_message(&session->frame, &at, buffer + size)) != 0;) {
    if (type == 'E') return FAILED;
    if (type != 'Z') continue;
    if (session->step == ASKING) return send_all(session->fd, terminate, sizeof terminate) ? DONE : FAILED;
    session->step = ASKING;
    if (!send_all(session->fd, query, sizeof query)) return FAILED;
  }
  return ON;
}

static enum outcome log_in(passing *session) {
  session->step = STARTING;
  return send_all(session->fd, startup, startup_length) ? ON : FAILED;
}

static enum outcome secure(passing *session) {
  if (session->step != SECURING) begin_client_tls(session->fd);
  session->step = SECURING;
  enum handshake step = shake_hands(session->fd);
  return step == SECURE ? log_in(session) : step == SHAKING ? ON : FAILED;
}

static enum outcome connected(passing *session) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = session};
  if (epoll_ctl(poller, EPOLL_CTL_MOD, session->fd, &event) != 0) fail("epoll");
  if (to.tls == PLAIN) return log_in(session);
  if (to.tls == DIRECT) return secure(session);
  uint8_t request[PACKET_HEAD];
  session->step = REQUESTING;
  return send_all(session->fd, request, make_ssl_request(request)) ? ON : FAILED;
}

static enum outcome move_on(passing *session) {
  uint8_t answer;
  switch (session->step) {
  case CONNECTING:
    return connected(session);
  case REQUESTING:
    return read(session->fd, &answer, 1) == 1 && answer == 'S' ? secure(session) : FAILED;
  case SECURING:
    return secure(session);
  default:
    return hear(session);
  }
}

int run_connects(arguments given) {
  to = target_of(given);
  int parallel = (int)number_of(given, "parallel", 8);
  const char *watched = text_of(given, "watch", "");
  startup_length = make_startup(startup, to.user, to.database);
  make_query(query, "select 1", sizeof query);
  make_message(terminate, 'X', sizeof terminate);
  poller = epoll_create1(EPOLL_CLOEXEC);
  passing *sessions = calloc((size_t)parallel, sizeof *sessions);
  for (int i = 0; i < parallel; i += 1) begin(&sessions[i]);
  int64_t now = now_ns(), ran = -1;
  int64_t start = now + (int64_t)(number_of(given, "warm", 0.2) * NS_PER_S);
  int64_t end = start + (int64_t)(number_of(given, "seconds", 1) * NS_PER_S);
  struct epoll_event events[MOST_EVENTS];
  while (now < end) {
    int ready = epoll_wait(poller, events, MOST_EVENTS, 1000);
    for (int i = 0; i < ready; i += 1) {
      passing *session = events[i].data.ptr;
      enum outcome outcome = move_on(session);
      if (outcome == ON) continue;
      if (outcome == FAILED) failures += 1;
      else if (ran >= 0) record(&latencies, now_ns() - session->begun_ns);
      hang_up(session->fd);
      begin(session);
    }
    now = now_ns();
    if (ran < 0 && now >= start) {
      start = now;
      failures = 0;
      ran = processor_ns(watched);
    }
  }
  ran = processor_ns(watched) - ran;
  printf("{\"done\":%llu,\"failed\":%llu,\"seconds\":%.6f,\"cpuUs\":%.1f,\"p50Us\":%.1f,\"p99Us\":%.1f,\"p999Us\":%.1f}\n",
         (unsigned long long)latencies.total, (unsigned long long)failures, (double)(now - start) / NS_PER_S, (double)ran / 1000,
         percentile_us(&latencies, 0.5), percentile_us(&latencies, 0.99), percentile_us(&latencies, 0.999));
  return 0;
}
