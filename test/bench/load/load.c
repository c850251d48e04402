// The load program of the benchmark: `load MODE key=value…`. Prints one line of JSON per event on standard output.
//   backend [cert= key=]                        a minimal PostgreSQL; prints its port
//   ping-pong port= connections= seconds=       sessions that send a query and wait for the answer
//   connects port= parallel= seconds=           sessions of one query each
//   idle port= connections=                     opened, used once (300 bytes each way), then held
//   stalled port= connections=                  request an endless result and never read it
// The first warm= seconds do not count; watch=PID,PID: processes whose time in the measured window is reported.
// Held sessions end with standard input. tls=request, tls=direct: the clients use TLS.
#define _GNU_SOURCE
#include "load.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <dirent.h>
#include <unistd.h>

const char *text_of(arguments given, const char *key, const char *fallback) {
  size_t length = strlen(key);
  for (int i = 0; i < given.count; i += 1)
    if (strncmp(given.values[i], key, length) == 0 && given.values[i][length] == '=') return given.values[i] + length + 1;
  return fallback;
}

double number_of(arguments given, const char *key, double fallback) {
  const char *text = text_of(given, key, NULL);
  if (text == NULL) return fallback;
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end != '\0') fail_with(key, "not a number");
  return value;
}

void fail_with(const char *what, const char *why) {
  fprintf(stderr, "load: %s: %s\n", what, why);
  exit(1);
}

void fail(const char *what) { fail_with(what, strerror(errno)); }

int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t process_ns(const char *pid) {
  char path[320];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) fail(path);
  int64_t sum = 0;
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%s/task/%s/schedstat", pid, task->d_name);
    FILE *file = fopen(path, "r");
    long long ran = 0;
    if (file == NULL) continue; // the thread has ended
    if (fscanf(file, "%lld", &ran) == 1) sum += ran;
    fclose(file);
  }
  closedir(tasks);
  return sum;
}

int64_t processor_ns(const char *pids) {
  char kept[4096];
  snprintf(kept, sizeof kept, "%s", pids);
  int64_t sum = 0;
  for (char *rest = kept, *pid; (pid = strsep(&rest, ",")) != NULL;)
    if (*pid != '\0') sum += process_ns(pid);
  return sum;
}

void record(histogram *into, int64_t ns) {
  uint64_t value = ns < 32 ? 32 : (uint64_t)ns;
  int power = 63 - __builtin_clzll(value);
  into->counts[power * 32 + (int)(value >> (power - 5) & 31)] += 1;
  into->total += 1;
}

double percentile_us(const histogram *of, double part) {
  uint64_t wanted = (uint64_t)((double)of->total * part), seen = 0;
  for (int i = 0; i < BUCKETS; i += 1) {
    seen += of->counts[i];
    if (seen > wanted) return (double)((1ULL << (i / 32)) + ((uint64_t)(i % 32) << (i / 32 - 5))) / 1000;
  }
  return 0;
}

void wait_for_end(void) {
  char buffer[256];
  while (read(STDIN_FILENO, buffer, sizeof buffer) > 0) continue;
}

int main(int count, char **values) {
  signal(SIGPIPE, SIG_IGN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char *mode = count > 1 ? values[1] : "";
  arguments given = {count - 2, values + 2};
  if (strcmp(mode, "backend") == 0) return run_backend(given);
  if (strcmp(mode, "ping-pong") == 0) return run_ping_pong(given);
  if (strcmp(mode, "connects") == 0) return run_connects(given);
  if (strcmp(mode, "idle") == 0) return run_held(given, false);
  if (strcmp(mode, "stalled") == 0) return run_held(given, true);
  fail_with(mode, "no such mode: backend, ping-pong, connects, idle, stalled");
}
