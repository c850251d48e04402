// Pointsman as its users run it: compiled, with the default settings, and with a management API in another process.
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { Child } from '../child.ts';
import type { Variant } from '../options.ts';
import type { Peer, Surroundings } from './peer.ts';
import { flagsOf } from './pointsman-build.ts';
import type { Build } from './pointsman-build.ts';

const listening = z.object({ event: z.literal('listening'), pool: z.string(), address: z.string() });

function configuration(api: string, backendPort: number, overrides: Variant['config']): Record<string, unknown> {
  const own: Record<string, unknown> = {
    cluster: { scope: 'demo', seeds: [api], allow: { ports: [backendPort] } },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
    client: { max_sessions: 20_000 },
    log: { level: 'info', format: 'json' },
  };
  const sections = Object.entries(overrides).map(([key, value]) => [
    key,
    isRecord(value) ? { ...asRecord(own[key]), ...value } : value,
  ]);
  return { ...own, ...Object.fromEntries(sections) };
}

export async function startPointsman(
  name: string,
  { main }: Build,
  { config, env, nodeFlags, node = process.execPath }: Variant,
  { backendPort }: Surroundings,
): Promise<Peer> {
  await using started = new AsyncDisposableStack();
  const directory = started.use(mkdtempDisposableSync(join(tmpdir(), 'pointsman-bench-')));
  const memberMain = join(import.meta.dirname, 'member-main.ts');
  const member = started.use(new Child({ command: process.execPath, args: [memberMain, String(backendPort)] }));
  const told = z.object({ url: z.string() });
  const { url } = await member.saying('URL', (line) =>
    line.startsWith('{') ? told.parse(JSON.parse(line)) : undefined,
  );
  const file = join(directory.path, 'pointsman.yaml');
  writeFileSync(file, stringify(configuration(url, backendPort, config)));
  const args = [...flagsOf(main), ...nodeFlags, main, 'run', '-c', file];
  const begunMs = performance.now();
  const child = started.use(new Child({ command: node, args, env }));
  const port = await portOf(child, 'write');
  const startedWithinMs = performance.now() - begunMs;
  const admin = await portOf(child, 'admin');
  await untilReady(child, admin);
  const held = started.move();
  return {
    name,
    port,
    pid: child.pid,
    startedWithinMs,
    metrics: async () => (await fetch(`http://127.0.0.1:${admin}/metrics`)).text(),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function portOf(child: Child, pool: string): Promise<number> {
  return child.saying(`listener for ${pool}`, (line) => {
    if (!line.startsWith('{')) return undefined;
    const { data } = listening.safeParse(JSON.parse(line));
    return data?.pool === pool ? Number(data.address.slice(data.address.lastIndexOf(':') + 1)) : undefined;
  });
}

async function untilReady(child: Child, admin: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while ((await fetch(`http://127.0.0.1:${admin}/readyz`)).status !== 200) {
    if (performance.now() > deadline) throw new Error(['Pointsman is not ready', ...child.lines.slice(-20)].join('\n'));
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
