// HAProxy: one thread, no checks, no log. As a plain TCP proxy, or with TLS towards its clients and its server.
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '../../../support/sockets/free-ports.ts';
import type { KeyPairPaths } from '../../../support/values/tls-files.ts';
import { findHaproxy } from '../../failover/haproxy.ts';
import { Child, whenListening } from '../child.ts';
import type { Peer, Surroundings } from './peer.ts';

/** TLS begins without a request on both sides. */
export interface HaproxyTls {
  readonly pair: KeyPairPaths;
  /** Signs the server's certificate. Undefined: plain text to the server. */
  readonly authority: string | undefined;
}

function configuration(port: number, backendPort: number, bind: string, server: string): string {
  return [
    'global',
    '    nbthread 1',
    '    maxconn 9900',
    'defaults',
    '    mode tcp',
    '    timeout client 30m',
    '    timeout connect 4s',
    '    timeout server 30m',
    'listen bench',
    `    bind 127.0.0.1:${port} backlog 4096${bind}`,
    `    server postgres 127.0.0.1:${backendPort}${server}`,
    '',
  ].join('\n');
}

export async function startHaproxy({ backendPort }: Surroundings, tls?: HaproxyTls, name = 'haproxy'): Promise<Peer> {
  const haproxy = findHaproxy();
  if (haproxy === undefined) throw new Error('HAProxy is not installed: apt-get install haproxy');
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  await using started = new AsyncDisposableStack();
  const directory = started.use(mkdtempDisposableSync(join(tmpdir(), 'pointsman-haproxy-')));
  const file = join(directory.path, 'haproxy.cfg');
  const pair = join(directory.path, 'pair.pem');
  if (tls !== undefined) writeFileSync(pair, readFileSync(tls.pair.cert, 'utf8') + readFileSync(tls.pair.key, 'utf8'));
  const bind = tls === undefined ? '' : ` ssl crt ${pair} alpn postgresql no-tls-tickets`;
  const verified = ` ssl alpn postgresql verify required ca-file ${tls?.authority ?? ''} no-ssl-reuse`;
  writeFileSync(file, configuration(port, backendPort, bind, tls?.authority === undefined ? '' : verified));
  const begunMs = performance.now();
  const child = started.use(new Child({ command: haproxy, args: ['-db', '-f', file] }));
  await whenListening(port);
  const startedWithinMs = performance.now() - begunMs;
  const held = started.move();
  return {
    name,
    port,
    ...(tls && { tls: 'direct' }),
    pid: child.pid,
    startedWithinMs,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
