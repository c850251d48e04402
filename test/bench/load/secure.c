// TLS on some of the sockets: `receive`, `transmit` and `hang_up` work on a socket whether it has TLS or not.
#define _GNU_SOURCE
#include "load.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_SOCKETS = 65536 };
static SSL *secured[MOST_SOCKETS];
static const uint8_t ALPN[] = "\012postgresql";

static SSL_CTX *context_of(const SSL_METHOD *method) {
  SSL_CTX *context = SSL_CTX_new(method);
  if (context == NULL) fail_with("TLS", "no context");
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return context;
}

static int no_wait(SSL *ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
    errno = EAGAIN;
    return -1;
  case SSL_ERROR_ZERO_RETURN:
    return 0;
  default:
    ERR_clear_error();
    errno = EPROTO;
    return -1;
  }
}

ssize_t receive(int fd, void *into, size_t size) {
  SSL *ssl = secured[fd];
  if (ssl == NULL) return read(fd, into, size);
  int result = SSL_read(ssl, into, (int)size);
  return result > 0 ? result : no_wait(ssl, result);
}

ssize_t transmit(int fd, const void *bytes, size_t length) {
  SSL *ssl = secured[fd];
  if (ssl == NULL) return write(fd, bytes, length);
  int result = SSL_write(ssl, bytes, (int)length);
  return result > 0 ? result : no_wait(ssl, result);
}

void hang_up(int fd) {
  if (secured[fd] != NULL) {
    SSL_shutdown(secured[fd]);
    SSL_free(secured[fd]);
    secured[fd] = NULL;
    ERR_clear_error();
  }
  close(fd);
}

static void begin_tls(SSL_CTX *context, int fd) {
  if (fd >= MOST_SOCKETS) fail_with("TLS", "too many sockets");
  secured[fd] = SSL_new(context);
  if (secured[fd] == NULL || SSL_set_fd(secured[fd], fd) != 1) fail_with("TLS", "no session");
}

void begin_client_tls(int fd) {
  static SSL_CTX *context;
  if (context == NULL) context = context_of(TLS_client_method());
  begin_tls(context, fd);
  SSL_set_alpn_protos(secured[fd], ALPN, sizeof ALPN - 1);
  SSL_set_connect_state(secured[fd]);
}

void begin_server_tls(int fd, const char *cert, const char *key) {
  static SSL_CTX *context;
  if (context == NULL) {
    context = context_of(TLS_server_method());
    // As PostgreSQL: no session is resumed.
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1 || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
      fail_with(cert, "cannot be used");
  }
  begin_tls(context, fd);
  SSL_set_accept_state(secured[fd]);
}

enum handshake shake_hands(int fd) {
  SSL *ssl = secured[fd];
  int result = SSL_do_handshake(ssl);
  if (result == 1) return SECURE;
  return no_wait(ssl, result) == -1 && errno == EAGAIN ? SHAKING : BROKEN;
}
