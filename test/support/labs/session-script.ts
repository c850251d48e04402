// A session as a script: a line for each thing that its client, a server, the routing table or time does, and behind
// the bar what it brings about, in order. A line is over when that has happened, and the whole is the golden output.
//
//   pg-1 hands over | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
//   pg-2 opens      | reaches pg-2 · moved to pg-2 · idle
import { expect } from 'vitest';
import type { Standing } from '../../../src/core/standing.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { COMMAND_COMPLETE, QUERY, errorOf, readyForQuery } from '../sockets/messages.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { aList, aPolicy, aSnapshot, isPrimary } from '../values/builders.ts';
import { DEMOTED, HANDING_OVER } from '../values/tables.ts';
import { SERVER_TLS } from '../values/tls-files.ts';
import { ManualClock } from '../waiting/manual-clock.ts';
import { until } from '../waiting/until.ts';
import { startProxyLab } from './proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from './proxy-lab.ts';

type Member = 'pg-1' | 'pg-2';

const MEMBERS = ['pg-1', 'pg-2'] as const;

const STANDINGS: Readonly<Record<string, Standing>> = {
  'hands over': HANDING_OVER,
  'is dead': { kind: 'leave', cause: 'dead', why: { code: 'refused' } },
  'is demoted': DEMOTED,
  'is silent': { kind: 'keep', why: { code: 'no_answer' } },
};
export interface ScriptOptions extends ProxyLabOptions {
  /** `write` if it is not given. */
  readonly pool?: string;
}

/** The WAL position of pg-1, by its API. */
interface ReportedWal {
  isThere: boolean;
}

const RUN = { timeline: 1, startedAt: 'monday' };

class Player {
  readonly #pool: string;
  readonly #clock: ManualClock;
  readonly #wal: ReportedWal;
  readonly #lab: ProxyLab;
  readonly #servers: Readonly<Record<Member, FakeBackend>>;
  #client: RawClient | undefined;
  #seenEvents = 0;
  #seenTriggers = 0;
  readonly #seenClients: Record<Member, number> = { 'pg-1': 0, 'pg-2': 0 };
  readonly #seenEnds: Record<Member, number> = { 'pg-1': 0, 'pg-2': 0 };
  #seenBytes = 0;
  /** Ends of the operator's requests that no line has told yet. */
  readonly #answers: string[] = [];

  static async start({ pool = 'write', ...options }: ScriptOptions): Promise<Player> {
    const tls = options.backend?.tls !== undefined;
    const start = () => startFakeBackend('movable', { tls });
    const servers = { 'pg-1': await start(), 'pg-2': await start() };
    const clock = new ManualClock();
    const reported: ReportedWal = { isThere: true };
    const sample = () => ({ at: clock.now(), run: RUN, bytes: 500 });
    const wal = () => ({ samples: new Map(reported.isThere ? [['pg-1', [sample()]]] : []), ends: undefined });
    // By its API, pg-2 is the primary at every moment.
    const primary = () => isPrimary('pg-2', clock.now() + 1);
    const snapshot = () => aSnapshot(aPolicy(), aList(0, 'pg-1', 'pg-2'), primary());
    const lab = await startProxyLab({ clock, moves: {}, wal, snapshot, ...options });
    return new Player(pool, clock, reported, lab, servers);
  }

  constructor(
    pool: string,
    clock: ManualClock,
    wal: ReportedWal,
    lab: ProxyLab,
    servers: Readonly<Record<Member, FakeBackend>>,
  ) {
    this.#pool = pool;
    this.#clock = clock;
    this.#wal = wal;
    this.#lab = lab;
    this.#servers = servers;
  }

  async play(line: string): Promise<string> {
    const [action = '', wanted = ''] = line.split('|').map((part) => part.trim());
    await this.#act(action);
    let told = '';
    await until(
      `"${action}" brings about "${wanted}"`,
      async () => (told = await this.#told()) === wanted,
      3_000,
    ).catch(() => {});
    this.#seenEvents = this.#lab.events.length;
    this.#seenTriggers = this.#lab.triggers.length;
    for (const name of MEMBERS) {
      this.#seenClients[name] = this.#servers[name].clients();
      this.#seenEnds[name] = this.#endsAt(name);
    }
    this.#seenBytes = this.#client?.received().length ?? 0;
    this.#answers.length = 0;
    return `${action} | ${told}`;
  }

  async end(): Promise<void> {
    this.#client?.socket.destroy();
    const ended = this.#lab.end(...Object.values(this.#servers));
    // Sessions that catch up share a probe of the primary for this long.
    await this.#clock.advance(50);
    await ended;
  }

  async #act(action: string): Promise<void> {
    const [who = '', ...rest] = action.split(' ');
    const what = rest.join(' ');
    if (who === 'client') return this.#clientDoes(what);
    if (who === 'pg-1' || who === 'pg-2') return this.#serverDoes(who, what);
    if (action === 'operator moves it') return void this.#lab.proxy.move(1).then((result) => this.#reads(result));
    if (who === 'nobody') return this.#lab.decide({});
    if (what === 's pass') return this.#clock.advance(Number(who) * 1_000);
    if (what === 'ms pass') return this.#clock.advance(Number(who));
    throw new Error(`no such line: ${action}`);
  }

  async #clientDoes(what: string): Promise<void> {
    if (what === 'connects') this.#client = await this.#lab.connect(this.#pool);
    else if (what === 'queries') this.#client?.socket.write(QUERY);
    else if (what === 'leaves') this.#client?.socket.resetAndDestroy();
    else throw new Error(`no such line: client ${what}`);
  }

  async #serverDoes(name: Member, what: string): Promise<void> {
    const server = this.#servers[name];
    const { address } = server;
    const [verb, word] = what.split(' ');
    const standing = STANDINGS[what];
    if (standing !== undefined)
      return this.#lab.decide({ [this.#pool]: { others: { [name]: { address, standing } } } });
    switch (verb) {
      case 'opens':
        return this.#lab.decide({ [this.#pool]: { open: { [name]: address } } });
      case 'becomes':
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script names a behaviour of the fake
        return void (server.behaviour = word as FakeBackend['behaviour']);
      case 'refuses':
        return server.refuseConnections();
      case 'listens':
        return server.listenAgain();
      case 'halts':
        return void server.last().socket.pause();
      case 'continues':
        return void server.last().socket.resume();
      case 'says':
        return void server.last().socket.write(lastWords(word));
      case 'closes':
        return void server.last().socket.end(word === undefined ? Buffer.alloc(0) : lastWords(word));
      case 'conceals':
        return void (this.#wal.isThere = false);
      case undefined:
      default:
        throw new Error(`no such line: ${name} ${what}`);
    }
  }

  #reads(result: MoveResult): void {
    this.#answers.push(`operator: ${result.kind}${'reason' in result ? ` ${result.reason}` : ''}`);
  }

  async #told(): Promise<string> {
    const events = this.#lab.events.slice(this.#seenEvents).flatMap(eventText);
    const bytes = this.#client?.received().subarray(this.#seenBytes) ?? Buffer.alloc(0);
    const triggers = this.#lab.triggers
      .slice(this.#seenTriggers)
      .flatMap((trigger) => (trigger.kind === 'backend_closed' ? [`${trigger.member} is probed`] : []));
    const left = MEMBERS.filter((name) => this.#endsAt(name) > this.#seenEnds[name]).map((name) => `leaves ${name}`);
    const reached = MEMBERS.filter((name) => this.#servers[name].clients() > this.#seenClients[name]);
    const arrivals = reached.map((name) => `reaches ${name}`);
    return [
      ...arrivals,
      ...triggers,
      ...events,
      ...left,
      ...this.#answers,
      ...reading(bytes),
      ...(await this.#place()),
    ].join(' · ');
  }

  #endsAt(name: Member): number {
    return this.#servers[name].connections.filter(({ hasEnded, isClosed }) => hasEnded || isClosed).length;
  }

  async #place(): Promise<readonly string[]> {
    const [session] = (await this.#lab.proxy.sessions({ limit: 1 })).sessions;
    if (session === undefined) return [];
    const { state, moves } = session;
    if (state !== 'parked') return [state === 'relaying' ? (session.activity ?? state) : state];
    return [`waits for ${moves?.underway?.waitsFor ?? 'nothing'}`];
  }
}

function lastWords(sqlState = ''): Buffer {
  return errorOf(['SFATAL', 'VFATAL', `C${sqlState}`, 'Mterminating connection']);
}

function eventText(event: ProxyEvent): readonly string[] {
  if (event.kind === 'session_asked') return [`asked: ${event.result}`];
  if (event.kind === 'session_stayed') return [`stays: ${event.reason}`];
  if (event.kind === 'session_parked') return [`parked: ${event.cause}`];
  if (event.kind === 'session_moved') return [`moved to ${event.to}`];
  return event.kind === 'session_closed' ? [`closed: ${event.reason}`] : [];
}

/** Errors by their SQLSTATE, and whole answers. */
function reading(bytes: Buffer): readonly string[] {
  const text = bytes.toString('latin1');
  const answer = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
  const errors = [...text.matchAll(/\0C([0-9A-Z]{5})\0M/g)].map(([, code = '']) => code);
  const read = [...errors, ...(bytes.includes(answer) ? ['its answer'] : [])];
  return read.length === 0 ? [] : [`client reads ${read.join(', ')}`];
}

/** Plays the script, and holds what happens to what it says: with servers in plain text, and with TLS to them. */
export async function expectScript(script: string, options: ScriptOptions = {}): Promise<void> {
  await expectPlay(script, options);
  await expectPlay(script, { ...options, backend: { ...options.backend, tls: SERVER_TLS } });
}

async function expectPlay(script: string, options: ScriptOptions): Promise<void> {
  const lines = script.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const player = await Player.start(options);
  const played: string[] = [];
  try {
    for (const line of lines) {
      played.push(await player.play(line));
      // A line behind one that went otherwise says nothing.
      if (played.at(-1) !== plain(line)) break;
    }
  } finally {
    await player.end();
  }
  expect(played.join('\n')).toBe(lines.map(plain).join('\n'));
}

function plain(line: string): string {
  return line
    .split('|')
    .map((part) => part.trim())
    .join(' | ');
}
