// `init` from each kind of source gives a file that passes `check --live` and that `run` serves clients with.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { haproxyConfig, SHIPPED } from '../bench/failover/haproxy-config.ts';
import { findHaproxy } from '../bench/failover/haproxy.ts';
import type { ClusterUnderTest } from '../support/patroni/cluster-under-test.ts';
import { describeOnEveryCluster, describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { PatroniCluster } from '../support/patroni/cluster.ts';
import { patroniYml } from '../support/patroni/patroni-config.ts';
import { findFreePorts } from '../support/sockets/free-ports.ts';
import { runSql } from '../support/patroni/sql.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import { itUnless } from '../support/runner/unless-missing.ts';
import { MAIN } from '../support/processes/program.ts';

const FREE = {
  POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:0',
  POINTSMAN_LISTENERS_0_ADDRESS: '127.0.0.1:0',
  POINTSMAN_LISTENERS_1_ADDRESS: '127.0.0.1:0',
};

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function execute(program: string, args: readonly string[]): Promise<Ran> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return new Promise((resolve) => {
    execFile(program, args, { env: { PATH, NODE_COMPILE_CACHE } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

const pointsman = (...args: readonly string[]): Promise<Ran> => execute(process.execPath, [MAIN, ...args]);

describeOnEveryCluster('init', (on) => {
  const lab = on.clusterWithPointsman();
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-init-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** Returns the text of the file, after it has passed the check and served a query. */
  async function works(...args: readonly string[]): Promise<string> {
    const file = join(directory, 'pointsman.yaml');
    const made = await pointsman('init', '-o', file, '--force', ...args);
    expect(made.code, `${made.out}${made.err}`).toBe(0);
    expect(made.out).toContain(`${file} is written, checked live`);
    const checked = await pointsman('check', '--live', '-c', file);
    expect(checked.code, `${checked.out}${checked.err}`).toBe(0);
    for (const { name } of lab.cluster.members()) expect(checked.out).toMatch(new RegExp(`^${name} .* accepts `, 'm'));
    const text = await readFile(file, 'utf8');
    await serves(text);
    return text;
  }

  async function serves(text: string): Promise<void> {
    const running = await startPointsman(text, FREE);
    try {
      await running.waitUntilReady();
      const port = await running.port('write');
      const through = { name: 'pointsman', api: '', host: '127.0.0.1', port };
      const [row] = await runSql(through, 'select pg_is_in_recovery() as standby', { as: lab.cluster.app });
      expect(row).toEqual({ standby: false });
    } finally {
      await running.stop();
    }
  }

  it('from the URL of one member', async () => {
    const [first] = lab.cluster.members();
    const text = await works('--from', first?.api ?? '');
    expect(text).toContain(`  scope: ${lab.cluster.scope} # reported by ${first?.api}\n`);
    for (const { api, name } of lab.cluster.members().slice(1)) expect(text).toContain(`    - ${api} # ${name}\n`);
    // Each seed reports its own port, so no rule is needed.
    expect(text).not.toContain('allow');
  });

  it('from the URLs of all members', async () => {
    const apis = lab.cluster.members().map(({ api }) => api);
    const text = await works('--from', ...apis);
    expect(text).toContain(`  seeds: [${apis.join(', ')}]\n`);
  });

  it('from an haproxy.cfg', async () => {
    const text = await works('--from', await aHaproxyFile(lab.cluster));
    expect(text).toContain('    check: /replica # ');
    expect(text).toMatch(/^ {2}- \{ address: 127\.0\.0\.1:\d+, pool: write \} # .*haproxy\.cfg:\d+$/m);
  });

  itUnless(
    findHaproxy() === undefined ? 'HAProxy: apt-get install haproxy' : undefined,
    'HAProxy accepts that file',
    async () => {
      const file = await aHaproxyFile(lab.cluster);
      const { code, err } = await execute(findHaproxy() ?? '', ['-c', '-f', file]);
      expect(code, err).toBe(0);
    },
  );

  it('from the patroni.yml of a member', async () => {
    const text = await works('--from', await aPatroniFile(lab.cluster));
    expect(text).toMatch(new RegExp(`^ {2}scope: ${lab.cluster.scope} # .*patroni\\.yml:\\d+$`, 'm'));
    for (const { api } of lab.cluster.members()) expect(text).toContain(`    - ${api} # `);
    expect(text).not.toContain('password');
  });

  it('from a connection string, with the port of the API', async () => {
    const members = lab.cluster.members();
    const [first] = members;
    const hosts = members.map(({ host, port }) => `${host}:${port}`).join(',');
    const uri = `postgresql://app:not-shown@${hosts}/app?target_session_attrs=read-write`;
    const port = new URL(first?.api ?? '').port;
    const file = join(directory, 'libpq.yaml');
    const made = await pointsman('init', '--from', uri, '--api-port', port, '-o', file);
    expect(made.code, `${made.out}${made.err}`).toBe(0);
    expect(made.out).toContain('postgresql://app@127.0.0.1:6432/app\n');
    expect(`${made.out}${made.err}${await readFile(file, 'utf8')}`).not.toContain('not-shown');
    await works('--from', uri, '--api-port', port);
  });

  it('a file that exists stays, and a failed check says so', async () => {
    const file = join(directory, 'kept.yaml');
    await writeFile(file, 'kept');
    const refused = await pointsman('init', '--from', 'http://127.0.0.1:1', '-o', file);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${file} exists already`) });
    expect(await readFile(file, 'utf8')).toBe('kept');
    const other = join(directory, 'unreachable.yaml');
    const failed = await pointsman('init', '--from', 'http://127.0.0.1:1', '-o', other);
    expect(failed).toMatchObject({ code: 1, out: expect.stringContaining('the check failed') });
    expect(existsSync(other)).toBe(true);
  });

  async function aHaproxyFile(cluster: ClusterUnderTest): Promise<string> {
    const [write = 0, read = 0, stats = 0] = await findFreePorts(3, ['127.0.0.1']);
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, haproxyConfig({ write, read, stats }, cluster.members(), SHIPPED));
    return file;
  }

  /** The real file of a member of Patroni; for the sandbox, the file that such a member would have. */
  async function aPatroniFile(cluster: ClusterUnderTest): Promise<string> {
    const [first] = cluster.members();
    if (first === undefined) throw new Error('no member');
    if (cluster instanceof PatroniCluster) return join(cluster.directory(), first.name, 'patroni.yml');
    const file = join(directory, 'patroni.yml');
    const nothing = { dynamic: {}, callbacks: {}, tags: {}, etcd: '', home: '', dataDir: '', postgresBinDir: '' };
    const ports = { apiPort: Number(new URL(first.api).port), port: first.port };
    await writeFile(
      file,
      patroniYml({ scope: cluster.scope, name: first.name, host: first.host, ...ports, ...nothing }),
    );
    return file;
  }
});

describeOnSandbox('init for more members than seeds', (on) => {
  const lab = on.clusterWithPointsman({ cluster: { members: 5 } });

  it('the ports of the others are allowed by name, and nothing else', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-init-'));
    const file = join(directory, 'pointsman.yaml');
    const [first] = lab.cluster.members();
    const made = await pointsman('init', '--from', first?.api ?? '', '-o', file);
    const checked = await pointsman('check', '--live', '-c', file);
    const text = await readFile(file, 'utf8');
    await rm(directory, { recursive: true });
    expect(made.code, `${made.out}${made.err}`).toBe(0);
    expect(checked.code, `${checked.out}${checked.err}`).toBe(0);
    const others = lab.cluster.members().filter(({ api }) => !text.includes(api));
    expect(others).toHaveLength(2);
    const ports = others.flatMap(({ name, api, port }) => [
      `      - ${new URL(api).port} # ${name}\n`,
      `      - ${port} # ${name}\n`,
    ]);
    expect(
      text
        .slice(text.indexOf('    ports:\n'))
        .split('\n')
        .filter((line) => line.startsWith('      - ')),
    ).toHaveLength(4);
    for (const line of ports) expect(text).toContain(line);
    expect(text).not.toContain('networks');
  });
});
