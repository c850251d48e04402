// `backend`: accepts every login and answers each query with one row of 64 bytes (select), of 300 (values), with 1000
// rows of 100 (rows), or with endless rows (table). With cert= and key= it takes TLS, by request or direct. With state=
// it answers Parse, Bind, Execute and Close too, and long statements with that row: a question of Pointsman's moves.
#define _GNU_SOURCE
#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GSS_REQUEST = 80877104, CANCEL_REQUEST = 80877102, ROW = 1024, ENDLESS = 65536, ROWS = 1000, SHORT_ROW = 100, TLS_HANDSHAKE = 22 };
enum { REPLIES = 16384, LONG_STATEMENT = 300 };

typedef struct {
  int fd;
  bool is_started, is_endless, is_securing, is_long;
  unsigned have; // bytes of the startup packet's head
  uint8_t head[PACKET_HEAD];
  uint32_t left;     // bytes missing of the startup packet
  uint32_t sent; // bytes of the current block of rows
  const uint8_t *rest; // of an answer that the socket has not taken yet
  size_t rest_length;
  framer frame;
} served;

static int poller;
static const char *cert, *key; // NULL: without TLS
static const char *state;      // NULL: queries alone are answered
static uint8_t replies[REPLIES]; // to the extended queries of one read
static size_t replied;
static uint8_t small[64], large[300], rows[ROWS * SHORT_ROW], endless[ENDLESS];

// A row of one column.
static size_t make_row(uint8_t *into, size_t length) {
  make_message(into, 'D', length);
  into[6] = 1;
  put_u32(into + 7, (uint32_t)length - 11);
  return length;
}

static size_t make_reply(uint8_t *into, size_t length) {
  static const char tag[] = "SELECT 1";
  size_t at = make_row(into, length - (HEAD + sizeof tag) - (HEAD + 1));
  make_message(into + at, 'C', HEAD + sizeof tag);
  memcpy(into + at + HEAD, tag, sizeof tag);
  at += HEAD + sizeof tag;
  at += make_message(into + at, 'Z', HEAD + 1);
  into[at - 1] = 'I';
  return at;
}

static void drop(served *session) {
  hang_up(session->fd);
  free(session);
}

static bool watch(served *session, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = session};
  return epoll_ctl(poller, EPOLL_CTL_MOD, session->fd, &event) == 0;
}

// Returns false when the session has ended. The bytes must stay as they are.
static bool answer(served *session, const uint8_t *bytes, size_t length) {
  ssize_t written = transmit(session->fd, bytes, length);
  if (written < 0 && errno != EAGAIN) return false;
  size_t taken = written < 0 ? 0 : (size_t)written;
  if (taken == length) return true;
  session->rest = bytes + taken;
  session->rest_length = length - taken;
  return watch(session, EPOLLOUT | EPOLLIN);
}

static bool send_rest(served *session) {
  size_t length = session->rest_length;
  session->rest_length = 0;
  return answer(session, session->rest, length) && (session->rest_length > 0 || watch(session, EPOLLIN));
}

static bool greet(served *session) {
  static const char version[] = "server_version\00015.0";
  static uint32_t last_process = 0;
  uint8_t greeting[128];
  size_t at = make_message(greeting, 'R', HEAD + 4);
  make_message(greeting + at, 'S', HEAD + sizeof version);
  memcpy(greeting + at + HEAD, version, sizeof version);
  at += HEAD + sizeof version;
  make_message(greeting + at, 'K', HEAD + 8);
  put_u32(greeting + at + HEAD, ++last_process);
  put_u32(greeting + at + HEAD + 4, last_process * 2654435761u);
  at += HEAD + 8;
  at += make_message(greeting + at, 'Z', HEAD + 1);
  greeting[at - 1] = 'I';
  session->is_started = true;
  return answer(session, greeting, at);
}

static bool secure(served *session) {
  if (!session->is_securing) begin_server_tls(session->fd, cert, key);
  enum handshake step = shake_hands(session->fd);
  session->is_securing = step == SHAKING;
  return step != BROKEN;
}

static bool is_direct(served *session) {
  uint8_t first = 0;
  return recv(session->fd, &first, 1, MSG_PEEK) == 1 && first == TLS_HANDSHAKE;
}

// Reads the packets before the first message.
static bool start(served *session, const uint8_t **at, const uint8_t *end) {
  while (*at < end && !session->is_started) {
    if (session->have < PACKET_HEAD) {
      session->head[session->have++] = *(*at)++;
      if (session->have < PACKET_HEAD) continue;
      uint32_t words[2];
      memcpy(words, session->head, sizeof words);
      session->left = ntohl(words[0]) - PACKET_HEAD;
      uint32_t code = ntohl(words[1]);
      if (code == CANCEL_REQUEST) return false;
      if (code == SSL_REQUEST || code == GSS_REQUEST) {
        session->have = 0;
        bool takes = code == SSL_REQUEST && cert != NULL;
        if (!answer(session, (const uint8_t *)(takes ? "S" : "N"), 1)) return false;
        if (takes) return secure(session);
        continue;
      }
    } else {
      *at += 1;
      session->left -= 1;
    }
    if (session->left == 0 && !greet(session)) return false;
  }
  return true;
}

static bool send_rows(served *session) {
  for (int times = 0; times < 16; times += 1) {
    ssize_t written = transmit(session->fd, endless + session->sent, ENDLESS - session->sent);
    if (written < 0) return errno == EAGAIN;
    session->sent = (session->sent + (uint32_t)written) % ENDLESS;
  }
  return true;
}

static void reply(char type, const void *body, size_t length) {
  if (replied + HEAD + length > REPLIES) fail_with("backend", "too many extended queries at once");
  make_message(replies + replied, type, HEAD + length);
  memcpy(replies + replied + HEAD, body, length);
  replied += HEAD + length;
}

static void reply_row(void) {
  uint8_t row[REPLIES] = {0, 1};
  size_t length = strlen(state);
  put_u32(row + 2, (uint32_t)length);
  memcpy(row + 6, state, length);
  reply('D', row, 6 + length);
}

static void ask_extended(served *session, int type) {
  switch (type) {
  case 'P':
    session->is_long = (session->frame.head[3] << 8 | session->frame.head[4]) > LONG_STATEMENT;
    reply('1', "", 0);
    break;
  case 'B':
    reply('2', "", 0);
    break;
  case 'E':
    if (session->is_long) reply_row();
    reply('C', "SELECT 1", sizeof "SELECT 1");
    break;
  case 'C':
    reply('3', "", 0);
    break;
  case 'S':
    reply('Z', "I", 1);
    break;
  }
}

// The replies are gone from their buffer when the socket has not taken all of them.
static bool send_replies(served *session) {
  size_t length = replied;
  replied = 0;
  return length == 0 || transmit(session->fd, replies, length) == (ssize_t)length;
}

static bool ask(served *session, int type) {
  if (type == 'X') return false;
  if (state != NULL && type != 'Q') ask_extended(session, type);
  if (type != 'Q') return true;
  switch (session->frame.first) {
  case 'v':
    return answer(session, large, sizeof large);
  case 't':
    session->is_endless = true;
    return watch(session, EPOLLOUT | EPOLLIN);
  case 'r':
    return answer(session, rows, sizeof rows);
  default:
    return answer(session, small, sizeof small);
  }
}

static bool hear(served *session) {
  static uint8_t buffer[READ_SIZE];
  if (session->is_securing) return secure(session);
  if (cert != NULL && !session->is_started && session->have == 0 && is_direct(session)) return secure(session);
  ssize_t size = receive(session->fd, buffer, sizeof buffer);
  if (size < 0) return errno == EAGAIN;
  if (size == 0) return false;
  const uint8_t *at = buffer, *end = buffer + size;
  replied = 0;
  if (!session->is_started && !start(session, &at, end)) return false;
  for (int type; (type = next_message(&session->frame, &at, end)) != 0;)
    if (!ask(session, type)) return false;
  return send_replies(session);
}

static void take_in(int listener) {
  int yes = 1;
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    served *session = calloc(1, sizeof *session);
    if (session == NULL) fail("memory");
    session->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = session};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll");
  }
}

static int listen_somewhere(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  if (bind(listener, (struct sockaddr *)&at, size) != 0 || listen(listener, 4096) != 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&at, &size);
  printf("{\"port\":%d}\n", ntohs(at.sin_port));
  return listener;
}

int run_backend(arguments given) {
  cert = text_of(given, "cert", NULL);
  key = text_of(given, "key", NULL);
  state = text_of(given, "state", NULL);
  make_reply(small, sizeof small);
  make_reply(large, sizeof large);
  make_reply(rows + sizeof rows - SHORT_ROW, SHORT_ROW);
  for (size_t at = 0; at < sizeof rows - SHORT_ROW; at += SHORT_ROW) make_row(rows + at, SHORT_ROW);
  for (size_t at = 0; at < ENDLESS; at += ROW) {
    make_row(endless + at, ROW);
  }
  poller = epoll_create1(EPOLL_CLOEXEC);
  int listener = listen_somewhere();
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listener};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  // The end of standard input ends the backend.
  event.data.ptr = NULL;
  epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &event);
  struct epoll_event events[MOST_EVENTS];
  for (;;) {
    int ready = epoll_wait(poller, events, MOST_EVENTS, -1);
    for (int i = 0; i < ready; i += 1) {
      if (events[i].data.ptr == NULL) return 0;
      if (events[i].data.ptr == &listener) {
        take_in(listener);
        continue;
      }
      served *session = events[i].data.ptr;
      bool lives = (events[i].events & ~(uint32_t)EPOLLOUT) == 0 || hear(session);
      bool has_room = (events[i].events & EPOLLOUT) != 0;
      if (lives && has_room && session->rest_length > 0) lives = send_rest(session);
      if (lives && has_room && session->is_endless) lives = send_rows(session);
      if (!lives) drop(session);
    }
  }
}
