// HAProxy as a plain TCP proxy: one thread, no checks, no log.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '../../../support/sockets/free-ports.ts';
import { findHaproxy } from '../../failover/haproxy.ts';
import { Child, whenListening } from '../child.ts';
import type { Peer, Surroundings } from './peer.ts';

function configuration(port: number, backendPort: number): string {
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
    `    bind 127.0.0.1:${port} backlog 4096`,
    `    server postgres 127.0.0.1:${backendPort}`,
    '',
  ].join('\n');
}

export async function startHaproxy({ backendPort }: Surroundings): Promise<Peer> {
  const haproxy = findHaproxy();
  if (haproxy === undefined) throw new Error('HAProxy is not installed: apt-get install haproxy');
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, configuration(port, backendPort));
  const begunMs = performance.now();
  const child = new Child({ command: haproxy, args: ['-db', '-f', file] });
  await whenListening(port);
  const startedWithinMs = performance.now() - begunMs;
  return {
    name: 'haproxy',
    port,
    pid: child.pid,
    startedWithinMs,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
