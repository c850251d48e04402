// Shared by the modes of the load program: sockets on loopback, PostgreSQL's framing, time, and processor time of
// others. One thread, epoll, no allocation during a measurement: it must cost far less than the proxies.
#ifndef LOAD_H
#define LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000LL
enum { HEAD = 5, READ_SIZE = 65536, MOST_EVENTS = 512 };

// Arguments are key=value.
typedef struct {
  int count;
  char **values;
} arguments;

const char *text_of(arguments given, const char *key, const char *fallback);
double number_of(arguments given, const char *key, double fallback);

// Ends the program with a message about the failed action and its reason.
void fail(const char *what) __attribute__((noreturn));
void fail_with(const char *what, const char *why) __attribute__((noreturn));

int64_t now_ns(void);

// Nanoseconds of all threads of the processes in `pids` (separated by commas; "" for none), from schedstat, because
// utime + stime of /proc/PID/stat are rounded to ticks.
int64_t processor_ns(const char *pids);

// The messages of one direction; only their types and lengths are read.
typedef struct {
  uint8_t head[HEAD];
  unsigned have;
  uint32_t left;
  uint8_t first; // first byte of the body
} framer;

// The type of the next message that ends before `end`, or 0; `at` moves behind the message.
int next_message(framer *frame, const uint8_t **at, const uint8_t *end);
// Ends the program with the text of an error: the message of `frame`, which ends at `at` in bytes read from `begin` on.
void fail_with_error(const char *what, const framer *frame, const uint8_t *begin, const uint8_t *at) __attribute__((noreturn));

size_t make_startup(uint8_t *into, const char *user, const char *database);
// A valid SQL query of `length` bytes in all. The tiny backend selects its answer by the verb: select, values, rows, table.
size_t make_query(uint8_t *into, const char *verb, size_t length);
// A message of a type, a length and zeros.
size_t make_message(uint8_t *into, char type, size_t length);
size_t put_u32(uint8_t *into, uint32_t value);

typedef struct {
  int port;
  const char *user;
  const char *database;
  // PLAIN; REQUEST: an SSLRequest before the handshake; DIRECT: the handshake first.
  enum { PLAIN, REQUEST, DIRECT } tls;
  unsigned next_source; // client addresses 127.0.0.2 and up, because ports of one run out
} target;

target target_of(arguments given);
// Begins to connect without waiting; -1 with errno when it fails at once.
int begin_connect(target *to);
// Connects, sends the startup packet, and waits for ReadyForQuery.
int open_session(target *to);
// Waits for `left` more messages of type Z.
void wait_for_ready(int fd, int left);
void write_all(int fd, const uint8_t *bytes, size_t length);

// As read, write and close, also for a socket with TLS.
ssize_t receive(int fd, void *into, size_t size);
ssize_t transmit(int fd, const void *bytes, size_t length);
void hang_up(int fd);
// TLS begins on a connected socket; no certificate is verified.
void begin_client_tls(int fd);
void begin_server_tls(int fd, const char *cert, const char *key);
// Goes on with the handshake; SHAKING: to be called again when the socket is readable.
enum handshake { SHAKING, SECURE, BROKEN };
enum handshake shake_hands(int fd);
// The packet that asks for TLS, and its answers.
enum { SSL_REQUEST = 80877103, PACKET_HEAD = 8 };
size_t make_ssl_request(uint8_t *into);

// A histogram of latencies with 32 buckets for each power of two.
enum { BUCKETS = 64 * 32 };
typedef struct {
  uint64_t total;
  uint32_t counts[BUCKETS];
} histogram;
void record(histogram *into, int64_t ns);
// A percentile in microseconds.
double percentile_us(const histogram *of, double part);

int run_backend(arguments given);
int run_ping_pong(arguments given);
int run_connects(arguments given);
int run_held(arguments given, bool is_stalled);
// Waits until standard input ends.
void wait_for_end(void);

#endif
