// HAProxy's configuration as Patroni ships it (examples/haproxy.cfg; reads as in its confd template), with this
// cluster's servers, free ports on loopback, and the one tuned line.
import type { MemberAddress } from '../../support/patroni/member.ts';

export interface HaproxyPorts {
  readonly write: number;
  readonly read: number;
  readonly stats: number;
}

/** The checks in Patroni's own example. */
export const SHIPPED = 'inter 3s fall 3 rise 2';
/** Common tuning by operators who want HAProxy to notice a switchover earlier. */
export const TUNED = 'inter 500ms fall 1 rise 1';

/** `most`: sessions, in all and for each server. The example has 100. */
export function haproxyConfig(
  ports: HaproxyPorts,
  members: readonly MemberAddress[],
  checks: string,
  most = 100,
): string {
  const servers = members.map(
    ({ name, host, port, api }) => `    server ${name} ${host}:${port} maxconn ${most} check port ${new URL(api).port}`,
  );
  const listener = (name: string, port: number, question: string): readonly string[] => [
    `listen ${name}`,
    `    bind 127.0.0.1:${port}`,
    `    option httpchk${question}`,
    '    http-check expect status 200',
    `    default-server ${checks} on-marked-down shutdown-sessions`,
    ...servers,
  ];
  return [
    'global',
    `    maxconn ${most}`,
    'defaults',
    '    log global',
    '    mode tcp',
    '    retries 2',
    '    timeout client 30m',
    '    timeout connect 4s',
    '    timeout server 30m',
    '    timeout check 5s',
    'listen stats',
    '    mode http',
    `    bind 127.0.0.1:${ports.stats}`,
    '    stats enable',
    '    stats uri /',
    ...listener('write', ports.write, ''),
    ...listener('read', ports.read, ' OPTIONS /replica'),
    '',
  ].join('\n');
}
