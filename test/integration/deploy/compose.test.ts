// The compose file, read by compose itself (the plugin, or Debian's docker-compose 1.29), and compared with the
// programs that it starts. No engine is contacted.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../../src/config/load.ts';
import { dashboardFiles } from '../../support/deploy/monitoring/dashboards/all.ts';
import { ALERTS, RECORDINGS } from '../../support/deploy/monitoring/rules.ts';
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
  volumes: z
    .array(
      z.union([
        z.string(),
        z.looseObject({ source: z.string(), target: z.string(), read_only: z.boolean().optional() }),
      ]),
    )
    .optional(),
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
  test('renders: three members, their store, Pointsman, and Prometheus with Grafana on request', () => {
    const { services } = rendered();
    expect(Object.keys(services).toSorted()).toEqual(['etcd', 'grafana', ...MEMBERS, 'pointsman', 'prometheus']);
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
    const env = { POINTSMAN_IMAGE: 'a:1', MEMBER_IMAGE: 'b:2', PROMETHEUS_IMAGE: 'c:3', GRAFANA_IMAGE: 'd:4' };
    const { services } = rendered(env);
    const images = ['pointsman', 'pg-1', 'etcd', 'prometheus', 'grafana'].map((name) => services[name]?.image);
    expect(images).toEqual(['a:1', 'b:2', 'b:2', 'c:3', 'd:4']);
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

  test('Prometheus scrapes the admin port and has the rules, Grafana has Prometheus and the dashboards', () => {
    const { rule_files, scrape_configs } = prometheusConfig.parse(read('prometheus.yaml'));
    expect(scrape_configs[0]?.static_configs[0]?.targets).toEqual(['pointsman:8432']);
    const { services } = rendered();
    const rules = mountsOf(services['prometheus']).filter(({ inside }) => inside.startsWith(dirname(rule_files[0])));
    expect(rules.map(({ outside }) => outside)).toEqual([ALERTS, RECORDINGS]);
    const [datasources, provider, dashboards] = mountsOf(services['grafana']);
    expect(read(join(datasources?.outside ?? '', 'prometheus.yaml'))).toMatchObject({
      datasources: [{ type: 'prometheus', url: 'http://prometheus:9090' }],
    });
    expect(read(join(provider?.outside ?? '', 'provider.yaml'))).toMatchObject({
      providers: [{ type: 'file', options: { path: dashboards?.inside } }],
    });
    const home = z.record(z.string(), z.string()).parse(services['grafana']?.environment);
    const file = home['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']?.replace(
      dashboards?.inside ?? '',
      dashboards?.outside ?? '',
    );
    expect(dashboardFiles().map(([path]) => path)).toContain(file);
  });
});

const prometheusConfig = z.looseObject({
  rule_files: z.tuple([z.string()]),
  scrape_configs: z.array(z.looseObject({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) })),
});

/** A file of the compose folder, or of a full path. */
function read(file: string): unknown {
  return parse(readFileSync(resolve(DIRECTORY, file), 'utf8'));
}

/** The mounts of a service, all of them read only. Old and new versions of compose write them differently. */
function mountsOf(
  one: z.output<typeof service> | undefined,
): readonly { readonly outside: string; readonly inside: string }[] {
  return (one?.volumes ?? []).map((mount) => {
    if (typeof mount !== 'string') {
      expect(mount.read_only).toBe(true);
      return { outside: mount.source, inside: mount.target };
    }
    const [outside = '', inside = '', mode] = mount.split(':');
    expect(mode).toBe('ro');
    return { outside, inside };
  });
}
