// A session at a real PostgreSQL that ends it without warning. The WAL positions are the test's; its clock can leap, so
// that a session has been idle for long.
import { kill } from 'node:process';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { WalSample } from '../../../src/core/coverage.ts';
import type { WalEvidence } from '../../../src/core/wal-samples.ts';
import type { Clock } from '../../../src/model/instant.ts';
import { nothing } from '../../../src/model/once.ts';
import type { LeaveMode } from '../../../src/model/policy.ts';
import { dialTcp } from '../../../src/proxy/connect/dial.ts';
import type { Dial } from '../../../src/proxy/server.ts';
import { startLoginServer, type LoginServer } from '../sandbox/login-server.ts';
import { aWritePool } from '../values/builders.ts';
import { systemClock } from '../waiting/system-clock.ts';
import { until } from '../waiting/until.ts';
import { startProxyLab, type ProxyLab } from './proxy-lab.ts';

const RUN = { timeline: 1, startedAt: 'monday' };
const LONG_MS = 60_000;

export interface Heard {
  readonly client: Client;
  readonly errors: { readonly code?: string; readonly message: string }[];
  readonly notices: unknown[];
}

/** Where the timeline ended for the next primary. `same`: it did not end. */
type TimelineEnd = 'same' | 'unknown' | number;

interface LossOptions {
  readonly mode?: 'planned' | 'always';
  readonly end?: TimelineEnd;
  readonly demoted?: LeaveMode;
  readonly onStays?: 'drain' | 'abort';
}

export async function pidOf({ client }: Heard): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

export class LossLab {
  end: TimelineEnd = 'same';
  /** Connects to the server are not answered. */
  isSilent = false;
  /** A probe of the member is wanted. */
  onFreshen = nothing;
  /** A decision may be due. */
  onDecideIfDue = nothing;
  #login: LoginServer | undefined;
  #lab: ProxyLab | undefined;
  #leapMs = 0;
  /** The positions that the primary has reported, newest first. */
  #samples: WalSample[] = [];
  #isLost = false;
  readonly #clients: Client[] = [];
  readonly #clock: Clock = { ...systemClock, now: () => systemClock.now() + this.#leapMs };

  /** For the tests of the block that it is called in. */
  static forTests(): LossLab {
    const lab = new LossLab();
    beforeAll(() => lab.#open(), 60_000);
    afterEach(async () => {
      await Promise.all(lab.#clients.splice(0).map((client) => client.end().catch(() => {})));
      lab.lab.proxy.close();
    });
    afterAll(() => lab.login.close());
    return lab;
  }

  get login(): LoginServer {
    if (this.#login === undefined) throw new Error('no server');
    return this.#login;
  }

  get lab(): ProxyLab {
    if (this.#lab === undefined) throw new Error('not started');
    return this.#lab;
  }

  async start({
    mode = 'always',
    end = 'same',
    demoted = 'close',
    onStays = 'drain',
  }: LossOptions = {}): Promise<void> {
    const { name, host, port } = this.login.server;
    const write = aWritePool();
    this.#isLost = false;
    this.isSilent = false;
    this.onFreshen = nothing;
    this.onDecideIfDue = nothing;
    this.#samples = [];
    this.reports(500);
    this.end = end;
    this.#lab = await startProxyLab({
      pools: [{ ...write, onLeave: { ...write.onLeave, demoted } }],
      moves: { mode, onStays },
      clock: this.#clock,
      wal: () => this.#wal(),
      dial: this.#dial,
      onDecideIfDue: () => this.onDecideIfDue(),
      freshen: () => Promise.resolve(this.onFreshen()),
      table: { write: { open: { [name]: { host, port } } } },
    });
  }

  async connect(): Promise<Heard> {
    const client = new Client({ ...this.lab.address('write'), user: 'mover', database: 'postgres' });
    const heard: Heard = { client, errors: [], notices: [] };
    client.on('error', (error) => heard.errors.push(error)).on('notice', (notice) => heard.notices.push(notice));
    this.#clients.push(client);
    await client.connect();
    return heard;
  }

  async startIdle(): Promise<{ readonly heard: Heard; readonly pid: number }> {
    await this.start();
    const heard = await this.connect();
    const pid = await pidOf(heard);
    await this.idleForLong();
    return { heard, pid };
  }

  parked(): Promise<true> {
    return until('the park', () => this.lab.events.some(({ kind }) => kind === 'session_parked'));
  }

  /** How often a session was asked, and can move. */
  answers(): number {
    return this.lab.events.filter((event) => event.kind === 'session_asked' && event.result === 'movable').length;
  }

  /** A session has been asked, and was idle for long since. Then the primary reports its position. */
  async idleForLong(bytes = 500, before = this.answers()): Promise<void> {
    await until('the question', () => this.answers() > before);
    this.leap();
    this.reports(bytes);
  }

  leap(): void {
    this.#leapMs += LONG_MS;
  }

  /** The primary reports its position. */
  reports(bytes: number): void {
    this.#samples = [{ at: this.#clock.now(), run: RUN, bytes }, ...this.#samples];
  }

  /** Another server is the primary from now on. */
  loses(): void {
    this.#isLost = true;
  }

  /** PostgreSQL ends all its sessions, recovers, and lets sessions in again. */
  async crash(): Promise<void> {
    const killed = await until('the background writer', () => this.#writerPid());
    this.loses();
    kill(killed, 'SIGKILL');
    await until('the recovery', async () => {
      const pid = await this.#writerPid();
      return pid !== undefined && pid !== killed;
    });
  }

  async #open(): Promise<void> {
    this.#login = await startLoginServer('embedded');
    await this.login.run('create role mover login', 'create table kept (n int)', 'grant all on kept to mover');
    await this.login.permit('host all mover 127.0.0.1/32 trust');
  }

  readonly #dial: Dial = (address, limits, onResult) => {
    if (!this.isSilent) return dialTcp(address, limits, onResult);
    onResult({ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: 'no connection' });
    return nothing;
  };

  #wal(): WalEvidence {
    const samples = this.#samples;
    if (this.end === 'same' || !this.#isLost) return { samples: new Map([['node-1', samples]]), ends: undefined };
    const promoted = { at: this.#clock.now(), run: { timeline: 2, startedAt: 'tuesday' }, bytes: 600 };
    const ends = new Map(this.end === 'unknown' ? [] : [[1, this.end]]);
    return {
      samples: new Map([['node-1', [promoted, ...samples]]]),
      ends: { timeline: 2, primary: 'node-1', ends },
    };
  }

  /** Undefined: the server does not answer. */
  async #writerPid(): Promise<number | undefined> {
    const sql = "select pid from pg_stat_activity where backend_type = 'background writer'";
    const [row] = await this.login.server.query<{ pid: number }>(sql).catch(() => []);
    return row?.pid;
  }
}
