// One session from a client's view: the messages, their framing, and the way to ReadyForQuery.
#define _GNU_SOURCE
#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOURCES = 200 };

size_t put_u32(uint8_t *into, uint32_t value) {
  uint32_t swapped = htonl(value);
  memcpy(into, &swapped, sizeof swapped);
  return sizeof swapped;
}

static uint32_t u32_at(const uint8_t *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return ntohl(value);
}

int next_message(framer *frame, const uint8_t **at, const uint8_t *end) {
  while (*at < end) {
    if (frame->have < HEAD) {
      frame->head[frame->have++] = *(*at)++;
      if (frame->have < HEAD) continue;
      frame->left = u32_at(frame->head + 1) - 4;
      frame->first = 0;
    } else {
      if (frame->first == 0) frame->first = **at;
      size_t here = (size_t)(end - *at);
      uint32_t taken = here < frame->left ? (uint32_t)here : frame->left;
      *at += taken;
      frame->left -= taken;
    }
    if (frame->left == 0) {
      frame->have = 0;
      return frame->head[0];
    }
  }
  return 0;
}

void fail_with_error(const char *what, const framer *frame, const uint8_t *begin, const uint8_t *at) {
  char text[1024] = "an error from the server";
  size_t here = (size_t)(at - begin), length = u32_at(frame->head + 1) - 4, used = 0;
  // The text is not at hand when the message began in an earlier read.
  const uint8_t *field = here < length ? at : at - length;
  for (const uint8_t *end; field < at && (end = memchr(field, 0, (size_t)(at - field))) != NULL && used < sizeof text; field = end + 1)
    if (*field != 0 && strchr("SCMD", *field) != NULL)
      used += (size_t)snprintf(text + used, sizeof text - used, used == 0 ? "%s" : " - %s", (const char *)field + 1);
  fail_with(what, text);
}

size_t make_message(uint8_t *into, char type, size_t length) {
  memset(into, 0, length);
  into[0] = (uint8_t)type;
  put_u32(into + 1, (uint32_t)length - 1);
  return length;
}

size_t make_query(uint8_t *into, const char *verb, size_t length) {
  make_message(into, 'Q', length);
  char *text = (char *)into + HEAD;
  size_t size = length - HEAD - 1;
  memset(text, ' ', size);
  memcpy(text, verb, strlen(verb));
  return length;
}

size_t make_startup(uint8_t *into, const char *user, const char *database) {
  const char *parts[] = {"user", user, "database", database, "application_name", "load", ""};
  size_t length = 4 + put_u32(into + 4, 0x00030000);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i += 1) {
    size_t size = strlen(parts[i]) + 1;
    memcpy(into + length, parts[i], size);
    length += size;
  }
  put_u32(into, (uint32_t)length);
  return length;
}

size_t make_ssl_request(uint8_t *into) {
  put_u32(into, PACKET_HEAD);
  put_u32(into + 4, SSL_REQUEST);
  return PACKET_HEAD;
}

target target_of(arguments given) {
  const char *tls = text_of(given, "tls", "");
  return (target){.port = (int)number_of(given, "port", 0),
                  .user = text_of(given, "user", "bench"),
                  .database = text_of(given, "database", "bench"),
                  .tls = strcmp(tls, "direct") == 0 ? DIRECT : strcmp(tls, "request") == 0 ? REQUEST : PLAIN};
}

int begin_connect(target *to) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0) return -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + to->next_source++ % SOURCES)};
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)to->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
      (connect(fd, (struct sockaddr *)&server, sizeof server) == 0 || errno == EINPROGRESS))
    return fd;
  close(fd);
  return -1;
}

static void wait_for(int fd, short what) {
  struct pollfd one = {fd, what, 0};
  if (poll(&one, 1, 60000) <= 0) fail_with("session", "nothing came for 60 s");
}

void write_all(int fd, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = transmit(fd, bytes, length);
    if (written < 0 && errno == EAGAIN) wait_for(fd, POLLOUT);
    else if (written < 0) fail("write");
    else {
      bytes += written;
      length -= (size_t)written;
    }
  }
}

void wait_for_ready(int fd, int left) {
  static uint8_t buffer[READ_SIZE];
  framer frame = {0};
  while (left > 0) {
    ssize_t size = receive(fd, buffer, sizeof buffer);
    if (size < 0 && errno == EAGAIN) {
      wait_for(fd, POLLIN);
      continue;
    }
    if (size < 0) fail("read");
    if (size == 0) fail_with("session", "ended by the server");
    const uint8_t *at = buffer;
    for (int type; (type = next_message(&frame, &at, buffer + size)) != 0;) {
      if (type == 'E') fail_with_error("session", &frame, buffer, at);
      left -= type == 'Z';
    }
  }
}

static void secure(int fd, bool is_direct) {
  uint8_t bytes[PACKET_HEAD];
  if (!is_direct) {
    write_all(fd, bytes, make_ssl_request(bytes));
    wait_for(fd, POLLIN);
    if (read(fd, bytes, 1) != 1 || bytes[0] != 'S') fail_with("session", "TLS is not supported");
  }
  begin_client_tls(fd);
  for (enum handshake step; (step = shake_hands(fd)) != SECURE; wait_for(fd, POLLIN))
    if (step == BROKEN) fail_with("session", "the handshake failed");
}

int open_session(target *to) {
  uint8_t startup[1024];
  int fd = begin_connect(to);
  if (fd < 0) fail("connect");
  wait_for(fd, POLLOUT);
  if (to->tls != PLAIN) secure(fd, to->tls == DIRECT);
  write_all(fd, startup, make_startup(startup, to->user, to->database));
  wait_for_ready(fd, 1);
  return fd;
}
