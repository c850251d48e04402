// The compose file, read by compose itself (the plugin, or Debian's docker-compose 1.29), and compared with the
// programs that it starts. No engine is contacted.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../../src/config/load.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const DIRECTORY = new URL('../../../deploy/compose/', import.meta.url).pathname;
const MEMBERS = ['pg-1', 'pg-2', 'pg-3'];

/** The command that runs compose on this machine. */
function findCompose(): readonly [string, ...string[]] | undefined {
  const ways: readonly (readonly [string, ...string[]])[] = [['docker', 'compose'], ['docker-compose']];
  return ways.find(([command, ...words]) => {
    try {
      execFileSync(command, [...words, 'version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

const service = z.looseObject({
  image: z.string(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.unknown()).optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
});
const document = z.looseObject({ services: z.record(z.string(), service) });

const compose = findCompose();
const missing = compose === undefined ? 'docker compose: apt-get install docker-compose' : undefined;

/** The compose file with every profile. */
function rendered(env: Readonly<Record<string, string>> = {}): z.output<typeof document> {
  const [command, ...words] = compose ?? ['docker'];
  const args = [...words, '--file', join(DIRECTORY, 'compose.yaml'), '--profile', 'metrics', 'config'];
  const text = execFileSync(command, args, { env: { PATH: process.env['PATH'] ?? '', ...env }, encoding: 'utf8' });
  return document.parse(parse(text, { merge: true }));
}

describeUnless(missing, 'the compose file', () => {
  test('renders: three members, their store, Pointsman, and Prometheus on request', () => {
    const { services } = rendered();
    expect(Object.keys(services).toSorted()).toEqual(['etcd', ...MEMBERS, 'pointsman', 'prometheus']);
    for (const name of MEMBERS) {
      expect(services[name]?.environment).toMatchObject({
        PATRONI_NAME: name,
        PATRONI_SCOPE: 'example',
        PATRONI_RESTAPI_CONNECT_ADDRESS: `${name}:8008`,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${name}:5432`,
      });
    }
  });

  test('images follow the environment', () => {
    const env = { POINTSMAN_IMAGE: 'a:1', MEMBER_IMAGE: 'b:2', PROMETHEUS_IMAGE: 'c:3' };
    const { services } = rendered(env);
    const images = [services['pointsman'], services['pg-1'], services['etcd'], services['prometheus']];
    expect(images.map((one) => one?.image)).toEqual(['a:1', 'b:2', 'b:2', 'c:3']);
  });

  test('Pointsman is confined, reachable from this host alone, and has time to stop', () => {
    const { services } = rendered();
    const pointsman = services['pointsman'];
    expect(pointsman).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(JSON.stringify(pointsman?.ports).match(/127\.0\.0\.1/g)).toHaveLength(3);
    const loaded = loadConfig({ file: join(DIRECTORY, 'pointsman.yaml'), env: {} });
    if (loaded.kind === 'invalid') throw new Error('the configuration is invalid');
    const { shutdown, cluster, listeners, admin } = loaded.config;
    expect(pointsman?.stop_grace_period).toBe('40s');
    expect(shutdown.graceMs + shutdown.waitMs + shutdown.drainTimeoutMs).toBeLessThan(40_000);
    const written = JSON.stringify(cluster.seeds);
    for (const name of MEMBERS) expect(written).toContain(`http://${name}:8008`);
    const inside = [...listeners.map(({ address }) => address), admin.address].map(({ port }) => port);
    expect(inside).toEqual([6432, 6433, 8432]);
  });

  test('Prometheus scrapes the admin port', () => {
    expect(readFileSync(join(DIRECTORY, 'prometheus.yaml'), 'utf8')).toContain("targets: ['pointsman:8432']");
  });
});
