// Alerts by which a server refuses the certificate of its client, or the lack of one (RFC 8446, 6.2). With TLS 1.3 they
// come behind the client's part of the handshake, when the connection seems to be secure already.

/** `ERR_SSL_TLSV1_ALERT_UNKNOWN_CA`, `ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED` */
const ALERT = /^ERR_SSL_\S+_ALERT_((?:\w+_)?CERTIFICATE(?:_\w+)?|UNKNOWN_CA)$/;

/** `certificate required`, `unknown ca`. Undefined: the code of Node says something else. */
export function certificateAlert(code: string): string | undefined {
  return ALERT.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ');
}
