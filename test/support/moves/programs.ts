// The programs that keep sessions, as this machine has them: one for each driver.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encryption, sessionAttributes, type ToolTarget, whyNoTool } from '../applications/client-tools.ts';
import { findExecutable } from '../patroni/availability.ts';
import { kept } from '../runner/kept.ts';
import { DrivenProgram } from './driven-program.ts';
import type { RunningProgram } from './driven-session.ts';
import { PsqlProgram } from './psql-program.ts';

const FOLDER = new URL('../../e2e/moves/programs/', import.meta.url).pathname;
const JDBC = '/usr/share/java/postgresql.jar';
const PYTHON = '/usr/bin/python3';

export interface ProgramTarget extends ToolTarget {
  /** Unless it follows from the credentials. */
  readonly sslmode?: 'disable' | 'require';
  /** Further variables of its environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface KnownProgram {
  readonly name: string;
  /** The missing part, with how to get it; undefined when nothing is missing. */
  readonly missing: string | undefined;
  /** Verbs that the driver has no way for. */
  readonly lacks: readonly string[];
  /** To be called once, before the first start. `directory`: for what it builds. */
  prepare(directory: string): Promise<void>;
  start(directory: string, to: ProgramTarget): RunningProgram;
}

export function programs(): readonly KnownProgram[] {
  return [psql(), psycopg2(), python('asyncpg', 'pipeline'), nodePostgres(), postgresJs(), pgjdbc()];
}

function environment(directory: string, to: ProgramTarget): NodeJS.ProcessEnv {
  const { host = '127.0.0.1' } = to;
  return {
    ...sessionAttributes(host),
    PATH: process.env['PATH'],
    HOME: directory,
    PYTHONDONTWRITEBYTECODE: '1',
    PGHOST: host,
    PGPORT: String(to.port),
    PGUSER: to.as.user,
    PGPASSWORD: to.as.password,
    PGDATABASE: to.as.database,
    ...encryption(to),
    ...(to.sslmode && { PGSSLMODE: to.sslmode }),
    PGCONNECT_TIMEOUT: '60',
    ...to.env,
  };
}

const nothing = async (): Promise<void> => undefined;

/** `more`: of its connection string. */
export function psql(more?: string): KnownProgram {
  return {
    name: 'psql',
    missing: whyNoTool('psql'),
    lacks: ['bind', 'pipeline', 'cancel', 'load', 'transaction'],
    prepare: nothing,
    start: (directory, to) => new PsqlProgram(environment(directory, to), more),
  };
}

function python(module: string, ...lacks: readonly string[]): KnownProgram {
  const isThere = spawnSync(PYTHON, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0;
  return {
    name: module,
    missing: isThere ? undefined : `${module}: apt-get install python3-${module}`,
    lacks,
    prepare: nothing,
    start: (directory, to) =>
      new DrivenProgram([PYTHON, join(FOLDER, `${module}_program.py`)], environment(directory, to)),
  };
}

export function psycopg2(): KnownProgram {
  return python('psycopg2', 'pipeline');
}

function node(name: string, ...lacks: readonly string[]): KnownProgram {
  return {
    name,
    missing: undefined,
    lacks,
    prepare: nothing,
    start: (directory, to) =>
      new DrivenProgram([process.execPath, join(FOLDER, `${name}.ts`)], environment(directory, to)),
  };
}

/** It comes from npm, so it is always there. */
export function nodePostgres(): KnownProgram {
  return node('node-postgres', 'copy_in', 'copy_out');
}

function postgresJs(): KnownProgram {
  return node('postgres-js', 'transaction');
}

function pgjdbc(): KnownProgram {
  const javac = findExecutable('javac');
  const isThere = javac !== undefined && existsSync(JDBC);
  return {
    name: 'pgjdbc',
    missing: isThere ? undefined : 'pgjdbc: apt-get install default-jdk-headless libpostgresql-jdbc-java',
    lacks: ['pipeline'],
    async prepare(directory) {
      const source = join(FOLDER, 'PgjdbcProgram.java');
      const classes = await kept('pgjdbc-program', [await readFile(source)], async (target) => {
        await promisify(execFile)(javac ?? '', ['-d', target, '-cp', JDBC, source]);
      });
      await cp(classes, directory, { recursive: true });
    },
    start: (directory, to) =>
      new DrivenProgram(
        ['java', '-XX:TieredStopAtLevel=1', '-Xmx128m', '-cp', `${directory}:${JDBC}`, 'PgjdbcProgram'],
        environment(directory, to),
      ),
  };
}
