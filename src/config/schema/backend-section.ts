// The section `backend`: connects to the members, and TLS on them.
import { z } from 'zod';
import type { BackendPolicy } from '../../model/policy.ts';
import { key } from './key.ts';
import { choice, count, duration, durationOrOff, nonEmpty, unlessOff } from './values.ts';

const tls = z.strictObject({
  mode: key(
    choice(['off', 'verify-ca', 'verify-full']).default('off'),
    `\`off\`: plain text, unless the client has TLS with the member (\`client.tls.mode: passthrough\`). \`verify-ca\`:
    TLS, and an authority of \`ca_file\` must have signed the certificate. \`verify-full\`: it must be for the name of
    the member, too. A member without such a certificate gets no session; nothing leads back to plain text.`,
  ),
  ca_file: key(
    nonEmpty.optional(),
    `A PEM file with the authorities that sign the members' certificates. This file and the next three are read again
    every 5 s; while one of them cannot be used, the last good content of all counts.`,
    { example: '/etc/pointsman/ca.crt', usual: "the system's authorities" },
  ),
  server_name: key(
    nonEmpty.optional(),
    `The name that the certificate of a member must have; it is sent as the server name (SNI), too. \`{member}\` stands
    for the name of the member.`,
    { example: "'{member}.db.example'", usual: "the host of the member's address" },
  ),
  cert: key(nonEmpty.optional(), "Pointsman's own certificate in PEM, for members that require one. With `key`.", {
    example: '/etc/pointsman/member.crt',
    usual: 'none',
  }),
  key: key(nonEmpty.optional(), 'Its private key in PEM, without a passphrase.', {
    example: '/etc/pointsman/member.key',
  }),
  crl_file: key(
    nonEmpty.optional(),
    'A PEM file with the revoked certificates (CRL) of every authority. One that has expired fails all handshakes.',
    { example: '/etc/pointsman/ca.crl', usual: 'no certificate counts as revoked' },
  ),
  negotiation: key(
    choice(['request', 'direct']).default('request'),
    '`direct`: the handshake begins without a request, which saves a round trip. Every member needs PostgreSQL 17.',
  ),
  min_version: key(choice(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2'), 'The oldest version of TLS that is used.'),
});

export const backend = z.strictObject({
  connect_timeout: key(duration(1).prefault('3s'), 'Time for one connect to a member, a TLS handshake included.'),
  attempt_delay: key(
    durationOrOff(1).prefault('250ms'),
    `A connect that is unanswered for this long is raced by a connect to the next member of the pool; the first
    connection is used. A member that has accepted the connection has answered, before its TLS handshake. \`off\`: no
    race.`,
  ),
  connect_attempts: key(
    count(1, 100).default(3),
    'Connects for one client, to different members where there are several. Then the client is held.',
  ),
  tcp_keepalives_idle: key(
    durationOrOff(1000).prefault('30s'),
    'As for clients (`client.tcp_keepalives_idle`), for a member that has sent nothing for this long.',
  ),
  tcp_user_timeout: key(
    durationOrOff(5000).prefault('60s'),
    `As for clients (\`client.tcp_user_timeout\`), for a server whose host acknowledges nothing. The session ends with
    \`backend_tcp_timeout\`. A member that is silent by its management API, too, ends them by \`probe.silence_grace\`.`,
  ),
  tls: key(tls.prefault({}), 'TLS between Pointsman and the members.'),
});

export type ParsedBackend = z.output<typeof backend>;

export function backendPolicy(parsed: ParsedBackend): BackendPolicy {
  const { mode, cert, key: privateKey, ...rest } = parsed.tls;
  return {
    connectTimeoutMs: parsed.connect_timeout,
    attemptDelayMs: unlessOff(parsed.attempt_delay),
    connectAttempts: parsed.connect_attempts,
    tcpKeepalivesIdleMs: unlessOff(parsed.tcp_keepalives_idle),
    tcpUserTimeoutMs: unlessOff(parsed.tcp_user_timeout),
    ...(mode === 'off'
      ? {}
      : {
          tls: {
            mode,
            caFile: rest.ca_file,
            crlFile: rest.crl_file,
            pair: cert === undefined || privateKey === undefined ? undefined : { cert, key: privateKey },
            serverName: rest.server_name,
            negotiation: rest.negotiation,
            minVersion: rest.min_version,
          },
        }),
  };
}
