// The command line as a user meets it: the output on each stream, and the exit code.
import { describe, expect, test } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import type { RunApp } from '../../../src/cli/io.ts';
import type { CheckSeeds } from '../../../src/cli/live-check.ts';
import type { Member } from '../../../src/model/member.ts';
import type { Config } from '../../../src/config/config.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const GOOD = 'cluster: { scope: batman, seeds: [http://pg1:8008, http://pg2:8008] }';
const FILES: Record<string, string> = {
  'good.yaml': GOOD,
  'bad.yaml': 'probe: { interval: 5 }',
  'warns.yaml': 'cluster: { seeds: [http://pg1:8008] }\nprobe: { timeout: 2s }',
};

const PG1: Member = {
  name: 'pg-1',
  api: { url: 'http://pg1:8008', address: { host: '10.0.0.11', port: 8008 } },
  postgres: { host: '10.0.0.11', port: 5432 },
  origin: 'discovered',
};

const checkSeeds: CheckSeeds = ({ cluster: { scope, seeds } }) => {
  const answers = scope === 'batman';
  const reports = seeds.map(({ url }) =>
    url === 'http://pg1:8008' && answers
      ? ({
          kind: 'found',
          url,
          scope,
          leader: 'pg-1',
          contactPoints: ['10.0.0.11:8008', '10.0.0.12:8008'],
          members: [PG1],
          refused: [{ name: 'pg-3', reason: 'postgres_port', why: 'port 22 is not allowed' }],
        } as const)
      : ({ kind: 'failed', url, why: `${url}: connection refused` } as const),
  );
  const primary = {
    name: 'pg-1',
    api: PG1.api.url,
    postgres: '10.0.0.11:5432',
    port: 'accepts',
    role: 'primary',
  } as const;
  return Promise.resolve({
    scope: answers ? scope : undefined,
    seeds: reports,
    members: answers ? [{ ...primary, pools: ['write'], why: undefined }] : [],
    pools: answers
      ? [{ name: 'write', check: '/primary', exclusive: true, members: ['pg-1'], why: 'open on pg-1' }]
      : [],
  });
};

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly config: Config | undefined;
  readonly warnings: number;
}

async function cli(argv: readonly string[], env: Readonly<Record<string, string>> = {}, app?: RunApp): Promise<Ran> {
  let [out, err, warnings] = ['', '', 0];
  let config: Config | undefined;
  const io = {
    env,
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: (file: string) => {
      const text = FILES[file];
      if (text === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
      return text;
    },
  };
  const runApp: RunApp = (request) => {
    config = request.config;
    warnings = request.warnings.length;
    return app === undefined ? Promise.resolve(0) : app(request);
  };
  const code = await runCli(argv, io, cliParts({ runApp, checkSeeds, version: '1.2.3' }));
  return { code, out, err, config, warnings };
}

describe('check', () => {
  test('the file may be an argument, too', async () => {
    expect(await cli(['check', 'good.yaml'])).toEqual(await cli(['check', '-c', 'good.yaml']));
  });

  test('a good file: ok, and its summary', async () => {
    const { code, out, err } = await cli(['check', '-c', 'good.yaml']);
    expect(out.split('\n')).toEqual([
      'good.yaml: ok',
      '  cluster     batman, from http://pg1:8008, http://pg2:8008 (members from',
      '              /cluster)',
      '  pool write  /primary, one member',
      '  pool read   /replica?lag=16MB, least_sessions, fallback to pool write (up to',
      '              100 sessions)',
      '  listener    127.0.0.1:6432 -> write',
      '  listener    127.0.0.1:6433 -> read',
      '  client TLS  passthrough: TLS clients get the pool of their listener; app@POOL',
      '              and pointsman.pool need a connection without TLS',
      '  admin       http://127.0.0.1:8432, no operations (no token)',
      '',
    ]);
    expect([code, err]).toEqual([0, '']);
  });

  test('--live: the report of each seed, the members by pool, and the facts that are refused', async () => {
    const { code, out, err } = await cli(['check', '-c', 'good.yaml', '--live']);
    expect(out).toContain(
      'http://pg1:8008: cluster batman, leader pg-1\n  contact points: 10.0.0.11:8008, 10.0.0.12:8008\n' +
        '  pg-3  not used: port 22 is not allowed\n',
    );
    expect(out).toContain(
      [
        'MEMBER  POSTGRESQL      PORT     ROLE     POOLS',
        'pg-1    10.0.0.11:5432  accepts  primary  write',
        'pool write (/primary): open on pg-1\n',
      ].join('\n'),
    );
    expect(err).toBe('http://pg2:8008: connection refused\n1 member is not used: pg-3\n1 problem.\n');
    expect(code).toBe(1);
  });

  test('--live --json: one document, also of what fails', async () => {
    const { code, out, err } = await cli(['check', '-c', 'good.yaml', '--live', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      api_version: 1,
      file: 'good.yaml',
      valid: true,
      problems: [{ message: '1 member is not used: pg-3' }],
      live: {
        scope: 'batman',
        leader: 'pg-1',
        seeds: [
          { url: 'http://pg1:8008', answers: true, members: [{ name: 'pg-1', postgres: '10.0.0.11:5432' }] },
          { url: 'http://pg2:8008', answers: false, why: 'http://pg2:8008: connection refused' },
        ],
        members: [{ name: 'pg-1', postgres: '10.0.0.11:5432', port: 'accepts', role: 'primary', pools: ['write'] }],
        refused_members: [{ name: 'pg-3', reason: 'postgres_port' }],
        pools: [{ name: 'write', members: ['pg-1'] }],
      },
    });
    expect([code, err]).toEqual([1, '']);
  });

  test('--json with a broken file: its problems with their places, exit code 2', async () => {
    const { code, out, err } = await cli(['check', '-c', 'bad.yaml', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      problems: [{ path: 'cluster.seeds' }, { origin: { kind: 'file', line: 1, column: 20 }, path: 'probe.interval' }],
    });
    expect([code, err]).toEqual([2, '']);
  });

  test('--quiet: only what is wrong', async () => {
    expect(await cli(['check', '-c', 'good.yaml', '--quiet'])).toMatchObject({ code: 0, out: '', err: '' });
    const { out, err } = await cli(['check', '-c', 'good.yaml', '--quiet', '--live']);
    expect(out).toBe('');
    expect(err).toContain('1 member is not used: pg-3\n');
  });

  test('--live with seeds that do not answer: exit code 1', async () => {
    const { code, err } = await cli(['check', '-c', 'warns.yaml', '--live']);
    expect(err).toContain('http://pg1:8008: connection refused\n');
    expect(err).toContain('no seed returned a member list');
    expect(code).toBe(1);
  });

  test('a bad file: every problem on stderr, exit code 2', async () => {
    const { code, out, err } = await cli(['check', '-c', 'bad.yaml']);
    expect(err).toContain('bad.yaml:1:20: probe.interval: 5 has no unit: write 5s or 5ms\n');
    expect(err).toContain('bad.yaml: cluster.seeds: no member to start from');
    expect(err).toContain('2 problems.\n');
    expect([code, out]).toEqual([2, '']);
  });

  test('warnings go to stderr and do not fail the check', async () => {
    const { code, err } = await cli(['check', '-c', 'warns.yaml']);
    expect(err).toMatch(/^warning: warns\.yaml:2:19: probe\.timeout: /);
    expect(code).toBe(0);
  });

  test('a missing file', async () => {
    const { code, err } = await cli(['check', '-c', 'gone.yaml']);
    expect(err).toContain('gone.yaml: cannot be read: there is no such file\n1 problem.\n');
    expect(code).toBe(2);
  });
});

describe('config', () => {
  test('print: the values that differ from the default, each with its origin', async () => {
    const { code, out, err } = await cli(['config', 'print', '-c', 'warns.yaml', '--only-changed']);
    expect(out).toMatch(/^cluster:\n {2}seeds: \[http:\/\/pg1:8008\] +# warns\.yaml:1:19\nprobe:\n/);
    expect(out).toMatch(/ {2}timeout: 2s +# warns\.yaml:2:19\n$/);
    expect([code, err]).toEqual([0, '']);
  });

  test('print --json: one document', async () => {
    const { out } = await cli(['config', 'print', '-c', 'good.yaml', '--json'], { POINTSMAN_ZONE: 'a' });
    const { api_version: version, settings }: { api_version: number; settings: unknown[] } = JSON.parse(out);
    expect(version).toBe(1);
    expect(settings).toContainEqual({
      key: 'zone',
      value: 'a',
      origin: { kind: 'environment', variable: 'POINTSMAN_ZONE' },
      changed: true,
    });
  });

  test('print with a bad file: exit code 2', async () => {
    expect(await cli(['config', 'print', '-c', 'bad.yaml'])).toMatchObject({ code: 2, out: '' });
  });

  test.each([
    ['schema', '"$schema"'],
    ['reference', '## cluster'],
    ['example', 'client_timeout: 30s'],
  ])('%s', async (page, text) => {
    const { code, out } = await cli(['config', page]);
    expect(out).toContain(text);
    expect(code).toBe(0);
  });
});

describe('the source of the configuration', () => {
  const seeds = { POINTSMAN_CLUSTER_SEEDS: 'http://env:8008' };

  test('POINTSMAN_CONFIG names the file', async () => {
    const { out } = await cli(['check'], { POINTSMAN_CONFIG: 'good.yaml' });
    expect(out).toContain('good.yaml: ok');
  });

  test('-c has precedence over POINTSMAN_CONFIG', async () => {
    const { out } = await cli(['check', '-c', 'good.yaml'], { POINTSMAN_CONFIG: 'gone.yaml' });
    expect(out).toContain('good.yaml: ok');
  });

  test('the environment alone', async () => {
    const { out } = await cli(['check'], seeds);
    expect(out).toMatch(/^environment: ok\n {2}cluster {5}any scope, from http:\/\/env:8008/);
  });

  test('without any configuration the output explains how to begin', async () => {
    const { code, err } = await cli(['run']);
    expect(err).toContain('No configuration file: use -c FILE');
    expect(code).toBe(2);
  });
});

describe('run', () => {
  test('passes the configuration and its warnings on, and ends with the exit code of the program', async () => {
    const { code, config, warnings } = await cli(['run', '-c', 'warns.yaml'], {}, () => Promise.resolve(7));
    expect([code, config?.probe.timeoutMs, warnings]).toEqual([7, 2000, 1]);
  });

  test('--log-level and --log-format have precedence over the file', async () => {
    const { config } = await cli(['run', '-c', 'good.yaml', '--log-level', 'debug', '--log-format', 'json']);
    expect(config?.log).toEqual({ level: 'debug', format: 'json', access: 'off' });
  });

  test('a reload reads the file again, and the command line still has precedence', async () => {
    const reloaded: unknown[] = [];
    await cli(['run', '-c', 'good.yaml', '--log-level', 'debug'], {}, ({ reload }) => {
      FILES['good.yaml'] = 'cluster: { seeds: [http://pg3:8008] }\nlog: { level: error }';
      reloaded.push(reload());
      FILES['good.yaml'] = 'probe: { interval: 5 }';
      reloaded.push(reload());
      FILES['good.yaml'] = GOOD;
      return Promise.resolve(0);
    });
    expect(reloaded).toEqual([
      expect.objectContaining({
        kind: 'ok',
        config: expect.objectContaining({ log: { level: 'debug', format: 'auto', access: 'off' } }),
      }),
      expect.objectContaining({ kind: 'invalid' }),
    ]);
  });

  test('without a file a reload is impossible', async () => {
    const reloaded: unknown[] = [];
    await cli(['run'], { POINTSMAN_CLUSTER_SEEDS: 'http://env:8008' }, ({ reload }) => {
      reloaded.push(reload());
      return Promise.resolve(0);
    });
    expect(reloaded).toEqual([{ kind: 'no_file' }]);
  });

  test('a bad file starts no process', async () => {
    const { code, config } = await cli(['run', '-c', 'bad.yaml']);
    expect([code, config]).toEqual([2, undefined]);
  });

  test('a failure while the program runs is exit code 1', async () => {
    const { code, err } = await cli(['run', '-c', 'good.yaml'], {}, () => Promise.reject(new Error('port taken')));
    expect(code).toBe(1);
    expect(err).toContain('pointsman: Error: port taken');
  });
});

describe('usage', () => {
  test.each([
    [['chek'], 'Did you mean check?'],
    [['run', '--confg', 'x'], 'Did you mean --config?'],
    [['run', '-c'], "option '-c, --config <file>' argument missing"],
    [['run', 'extra'], 'too many arguments'],
    [['run', '--log-level', 'loud'], 'Allowed choices are fatal, error, warn, info, debug, trace'],
    [[], 'Usage: pointsman'],
  ])('%j is exit code 2', async (argv, message) => {
    const { code, err, out } = await cli(argv);
    expect(err).toContain(message);
    expect([code, out]).toEqual([2, '']);
  });

  test('help for a command, and for an unknown one', async () => {
    expect((await cli(['help', 'check'])).out).toContain('Usage: pointsman check');
    expect(await cli(['help', 'nosuch'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown command 'nosuch'"),
    });
  });

  test.each([[['--help']], [['help']]])('%j shows examples, exit code 0', async (argv) => {
    const { code, out, err } = await cli(argv);
    expect(out).toContain('pointsman run -c /etc/pointsman/pointsman.yaml');
    expect([code, err]).toEqual([0, '']);
  });

  test.each([[['version']], [['--version']], [['-V']], [['-v']]])('%j', async (argv) => {
    const { code, out } = await cli(argv);
    expect([code, out]).toEqual([0, '1.2.3\n']);
  });
});
