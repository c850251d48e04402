// The drivers of test/e2e/drivers as processes: a list of those that this machine has, one process that runs
// cases, and one that keeps working.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { encryption, type ToolTarget } from './client-tools.ts';
import { findExecutable } from '../patroni/availability.ts';
import { kept } from '../runner/kept.ts';
import { monotonicMs } from '../waiting/wait.ts';

const FOLDER = new URL('../../e2e/drivers/', import.meta.url).pathname;
const JDBC = '/usr/share/java/postgresql.jar';

export interface Driver {
  readonly name: string;
  /** The missing part, with how to get it; undefined when nothing is missing. */
  readonly missing: string | undefined;
  /** Cases that it has no way for. */
  readonly lacks: readonly string[];
  /** To be called once, before the first run. `directory`: for what it builds. */
  prepare(directory: string): Promise<void>;
  command(directory: string): readonly string[];
}

export interface DriverTarget extends Pick<ToolTarget, 'port' | 'as' | 'isBound'> {
  /** Unless it follows from the credentials. */
  readonly sslmode?: 'disable' | 'require';
}

/** The output of a program about one case. */
export interface CaseResult {
  readonly value: string | undefined;
  readonly error: string | undefined;
}

const execute = promisify(execFile);

function interpreted(name: string, packages: string, command: readonly string[], probe: readonly string[]): Driver {
  const [program = '', ...args] = command;
  const found = spawnSync(program, probe, { stdio: 'ignore' }).status === 0;
  const missing = found ? undefined : `${name}: apt-get install ${packages}`;
  const script = args.map((arg) => join(FOLDER, arg));
  return { name, missing, lacks: [], prepare: async () => undefined, command: () => [program, ...script] };
}

const python = (name: string, module: string): Driver =>
  interpreted(name, `python3-${module}`, ['/usr/bin/python3', `${module}_driver.py`], ['-c', `import ${module}`]);

const node = (name: string, file: string, ...lacks: readonly string[]): Driver => ({
  ...interpreted(name, '', [process.execPath, file], ['--version']),
  lacks,
});

export function drivers(): readonly Driver[] {
  return [
    node('node-postgres', 'node-postgres.ts', 'copy'),
    node('postgres.js', 'postgres-js.ts'),
    python('psycopg 2', 'psycopg2'),
    // The module of python3-psycopg is psycopg; its version is 3.
    { ...python('psycopg 3', 'psycopg'), command: () => ['/usr/bin/python3', join(FOLDER, 'psycopg3_driver.py')] },
    python('asyncpg', 'asyncpg'),
    interpreted('DBD::Pg', 'libdbd-pg-perl', ['/usr/bin/perl', 'driver.pl'], ['-MDBD::Pg', '-e', '1']),
    interpreted('ruby-pg', 'ruby ruby-pg', ['/usr/bin/ruby', 'driver.rb'], ['-rpg', '-e', '1']),
    interpreted(
      'PHP',
      'php-cli php-pgsql',
      ['/usr/bin/php', 'driver.php'],
      ['-r', 'exit(function_exists("pg_connect") ? 0 : 1);'],
    ),
    pgjdbc(),
    libPq(),
  ];
}

function pgjdbc(): Driver {
  const javac = findExecutable('javac');
  const isThere = javac !== undefined && existsSync(JDBC);
  return {
    name: 'pgjdbc',
    missing: isThere ? undefined : 'pgjdbc: apt-get install default-jdk-headless libpostgresql-jdbc-java',
    lacks: [],
    async prepare(directory) {
      const source = join(FOLDER, 'Pgjdbc.java');
      const classes = await kept('pgjdbc-driver', [await readFile(source)], async (target) => {
        await execute(javac ?? '', ['-d', target, '-cp', JDBC, source]);
      });
      await cp(classes, directory, { recursive: true });
    },
    command: (directory) => ['java', '-XX:TieredStopAtLevel=1', '-cp', `${directory}:${JDBC}`, 'Pgjdbc'],
  };
}

function libPq(): Driver {
  const go = findExecutable('go');
  const isThere = go !== undefined && existsSync('/usr/share/gocode/src/github.com/lib/pq');
  return {
    name: 'lib/pq',
    missing: isThere ? undefined : 'lib/pq: apt-get install golang-go golang-github-lib-pq-dev',
    // It can take rows in by COPY, and none out.
    lacks: ['copy'],
    async prepare(directory) {
      const source = join(FOLDER, 'driver.go');
      const program = await kept('lib-pq-driver', [await readFile(source)], async (target) => {
        const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(directory, 'go') };
        await execute(go ?? '', ['build', '-o', join(target, 'lib-pq'), source], { env });
      });
      await cp(program, directory, { recursive: true });
    },
    command: (directory) => [join(directory, 'lib-pq')],
  };
}

function start(driver: Driver, directory: string, to: DriverTarget, args: readonly string[]): ChildProcess {
  const [program = '', ...words] = driver.command(directory);
  return spawn(program, [...words, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      PYTHONDONTWRITEBYTECODE: '1',
      PGHOST: '127.0.0.1',
      PGPORT: String(to.port),
      PGUSER: to.as.user,
      PGPASSWORD: to.as.password,
      PGDATABASE: to.as.database,
      ...encryption(to),
      ...(to.sslmode && { PGSSLMODE: to.sslmode }),
      PGCONNECT_TIMEOUT: '60',
    },
  });
}

/** Runs the cases in one process; resolves with its output about each. */
export async function runCases(
  driver: Driver,
  directory: string,
  to: DriverTarget,
  names: readonly string[],
): Promise<ReadonlyMap<string, CaseResult>> {
  const child = start(driver, directory, to, ['cases', ...names]);
  child.stdin?.end();
  const results = new Map<string, CaseResult>();
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [name = '', outcome, ...rest] = line.split('\t');
      const said = rest.join(' ').trim();
      results.set(name, outcome === 'ok' ? { value: said, error: undefined } : { value: undefined, error: said });
    });
  }
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0 || results.size !== names.length) {
    throw new Error(`${driver.name} ended with ${code} after ${[...results.keys()].join()}: ${errors.join('')}`);
  }
  return results;
}

export interface WorkLine {
  readonly atMs: number;
  readonly kind: string;
  /** The server that took the row, or what the driver said. */
  readonly said: string;
}

/** Three sessions that write a row each 100 ms. */
export class WorkingDriver {
  readonly driver: Driver;
  readonly lines: WorkLine[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(driver: Driver, directory: string, to: DriverTarget) {
    this.driver = driver;
    this.#child = start(driver, directory, to, ['work']);
    this.#ended = new Promise((resolve) => void this.#child.once('close', () => resolve()));
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const [, kind = '', ...rest] = line.split('\t');
      this.lines.push({ atMs: monotonicMs(), kind, said: rest.join(' ') });
    });
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}
