// `ping-pong`: each session sends a query of 64 bytes, waits for the whole answer, and repeats. verb= selects the
// answer (select).
#define _GNU_SOURCE
#include "load.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

typedef struct {
  int fd;
  framer frame;
  int64_t asked_ns;
} asking;

static uint8_t query[64];

static void ask(asking *session, int64_t now) {
  session->asked_ns = now;
  write_all(session->fd, query, sizeof query);
}

// Returns true when the whole answer has arrived.
static bool hear(asking *session) {
  static uint8_t buffer[READ_SIZE];
  ssize_t size = receive(session->fd, buffer, sizeof buffer);
  if (size < 0 && errno == EAGAIN) return false;
  if (size < 0) fail("read");
  if (size == 0) fail_with("ping-pong", "a session was ended by the server");
  const uint8_t *at = buffer;
  bool is_whole = false;
  for (int type; (type = next_message(&session->frame, &at, buffer + size)) != 0;) {
    if (type == 'E') fail_with_error("ping-pong", &session->frame, buffer, at);
    is_whole |= type == 'Z';
  }
  return is_whole;
}

int run_ping_pong(arguments given) {
  target to = target_of(given);
  int connections = (int)number_of(given, "connections", 1);
  const char *watched = text_of(given, "watch", "");
  asking *sessions = calloc((size_t)connections, sizeof *sessions);
  static histogram latencies;
  int poller = epoll_create1(EPOLL_CLOEXEC);
  make_query(query, text_of(given, "verb", "select"), sizeof query);
  for (int i = 0; i < connections; i += 1) {
    sessions[i].fd = open_session(&to);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &sessions[i]};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, sessions[i].fd, &event) != 0) fail("epoll");
  }
  int64_t begin = now_ns() + (int64_t)(number_of(given, "warm", 0.2) * NS_PER_S);
  int64_t end = begin + (int64_t)(number_of(given, "seconds", 1) * NS_PER_S);
  int64_t ran = -1, now = now_ns();
  for (int i = 0; i < connections; i += 1) ask(&sessions[i], now);
  struct epoll_event events[MOST_EVENTS];
  while (now < end) {
    int ready = epoll_wait(poller, events, MOST_EVENTS, 1000);
    for (int i = 0; i < ready; i += 1) {
      asking *session = events[i].data.ptr;
      if (!hear(session)) continue;
      now = now_ns();
      if (ran >= 0) record(&latencies, now - session->asked_ns);
      ask(session, now);
    }
    now = now_ns();
    if (ran < 0 && now >= begin) {
      begin = now;
      ran = processor_ns(watched);
    }
  }
  ran = processor_ns(watched) - ran;
  printf("{\"done\":%llu,\"seconds\":%.6f,\"cpuUs\":%.1f,\"p50Us\":%.1f,\"p99Us\":%.1f,\"p999Us\":%.1f}\n",
         (unsigned long long)latencies.total, (double)(now - begin) / NS_PER_S, (double)ran / 1000, percentile_us(&latencies, 0.5),
         percentile_us(&latencies, 0.99), percentile_us(&latencies, 0.999));
  return 0;
}
