// A session as a script: a line for each thing that its client, a server, the routing table or time does, and behind
// the bar what it brings about, in order; a line with nothing before the bar goes on with that. A line is over when
// that has happened, and the whole is the golden output.
//
//   pg-1 hands over | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
//   pg-2 opens      | reaches pg-2 · moved to pg-2 · idle
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import type { Standing } from '../../../src/core/standing.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { BIND, EXECUTE, FLUSH, PARSE, QUERY, SYNC, TERMINATE, aMessage } from '../sockets/messages.ts';
import { aCancelRequest, aStartup } from '../sockets/packets.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { aList, aPolicy, aSnapshot, isPrimary } from '../values/builders.ts';
import { DEMOTED, HANDING_OVER } from '../values/tables.ts';
import { SERVER_TLS } from '../values/tls-files.ts';
import { startProxyLab } from './proxy-lab.ts';
import { realGround, type Ground } from './script-ground.ts';
import { errorDetail, lastWords, moveText, preflightText, reading, textOfSession } from './script-words.ts';
import { simulatedGround } from './simulated-ground.ts';
import type { ProxyLab, ProxyLabOptions } from './proxy-lab.ts';

type Member = 'pg-1' | 'pg-2';

const MEMBERS = ['pg-1', 'pg-2'] as const;

const STANDINGS: Readonly<Record<string, Standing>> = {
  'hands over': HANDING_OVER,
  'hands over within 10 s': { ...HANDING_OVER, limitMs: 10_000 },
  'is dead': { kind: 'leave', cause: 'dead', why: { code: 'refused' } },
  'is demoted': DEMOTED,
  'is drained': { kind: 'leave', cause: 'operator', why: { code: 'drained', since: 0 } },
  'is silent': { kind: 'keep', why: { code: 'no_answer' } },
};
export interface ScriptOptions extends ProxyLabOptions {
  /** `write` if it is not given. */
  readonly pool?: string;
}

interface Cluster {
  /** The WAL position of pg-1 is known by its API. */
  hasWal: boolean;
  timeline: number;
  /** A decision that is overdue. */
  overdue: (() => void) | undefined;
  /** A probe of the primary: it has no answer yet. */
  probe: PromiseWithResolvers<void> | undefined;
}

const RUN = { timeline: 1, startedAt: 'monday' };

const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));
const CUT_AT = 7;
/** A client sends these bytes. */
const SENDS: Readonly<Record<string, Uint8Array>> = {
  queries: QUERY,
  begins: query('begin'),
  commits: query('commit'),
  'computes a name': query("select set_config('app.' || 'tenant', '1', false)"),
  sets: query("set work_mem = '7MB'"),
  fails: query('wrong'),
  locks: query('select pg_advisory_lock(1)'),
  'rolls back': query('rollback'),
  'sends half of a query': QUERY.subarray(0, CUT_AT),
  'sends the rest': QUERY.subarray(CUT_AT),
  'prepares without a Sync': Buffer.concat([PARSE, FLUSH]),
  prepares: Buffer.concat([PARSE, SYNC]),
  runs: Buffer.concat([BIND, EXECUTE, SYNC]),
  'says goodbye': TERMINATE,
};

class Player {
  readonly #pool: string;
  readonly #ground: Ground;
  readonly #cluster: Cluster;
  readonly #lab: ProxyLab;
  readonly #servers: Readonly<Record<Member, FakeBackend>>;
  #client: RawClient | undefined;
  #seenEvents = 0;
  #seenTriggers = 0;
  readonly #seenClients: Record<Member, number> = { 'pg-1': 0, 'pg-2': 0 };
  readonly #seenEnds: Record<Member, number> = { 'pg-1': 0, 'pg-2': 0 };
  #seenBytes = 0;
  #seenEnd = '';
  /** Why its last attempt has failed. */
  #why = '';
  #seenWhy = '';
  /** Cancel requests, and another session, have them. */
  readonly #others: Socket[] = [];
  /** Ends of the operator's requests that no line has told yet. */
  readonly #answers: string[] = [];

  static async start(ground: Ground, { pool = 'write', ...options }: ScriptOptions): Promise<Player> {
    const servers = { 'pg-1': await ground.server(), 'pg-2': await ground.server() };
    const { clock } = ground;
    const cluster: Cluster = { hasWal: true, timeline: 1, overdue: undefined, probe: undefined };
    const onDecideIfDue = (): void => {
      const { overdue } = cluster;
      cluster.overdue = undefined;
      overdue?.();
    };
    const freshen = () => cluster.probe?.promise ?? Promise.resolve();
    const sample = () => ({ at: clock.now(), run: RUN, bytes: 500 });
    const wal = () => ({ samples: new Map(cluster.hasWal ? [['pg-1', [sample()]]] : []), ends: undefined });
    // By its API, pg-2 is the primary at every moment. That of pg-1 answers, too.
    const primary = () => isPrimary('pg-2', clock.now() + 1);
    const snapshot = () => {
      const { members, ...others } = aSnapshot(aPolicy(), aList(0, 'pg-1', 'pg-2'), primary());
      const answering = [...members].map(([name, record]) => [name, { ...record, answeredAt: clock.now() }] as const);
      return { ...others, members: new Map(answering), highestTimeline: cluster.timeline };
    };
    const lab = await startProxyLab({
      moves: {},
      wal,
      snapshot,
      freshen,
      onDecideIfDue,
      ...ground.options,
      ...options,
    });
    return new Player(pool, ground, cluster, lab, servers);
  }

  constructor(
    pool: string,
    ground: Ground,
    cluster: Cluster,
    lab: ProxyLab,
    servers: Readonly<Record<Member, FakeBackend>>,
  ) {
    this.#pool = pool;
    this.#ground = ground;
    this.#cluster = cluster;
    this.#lab = lab;
    this.#servers = servers;
  }

  async play(line: string): Promise<string> {
    const [action = '', wanted = ''] = line.split('|').map((part) => part.trim());
    await this.#act(action);
    let told = '';
    await this.#ground.settle(
      `"${action}" brings about "${wanted}"`,
      async () => (told = await this.#told()) === wanted,
    );
    this.#seenEvents = this.#lab.events.length;
    this.#seenTriggers = this.#lab.triggers.length;
    for (const name of MEMBERS) {
      this.#seenClients[name] = this.#servers[name].clients();
      this.#seenEnds[name] = this.#endsAt(name);
    }
    this.#seenBytes = this.#client?.received().length ?? 0;
    [this.#seenEnd = ''] = [...this.#clientEnds(), this.#seenEnd];
    this.#seenWhy = this.#why;
    this.#answers.length = 0;
    return `${action} | ${told}`;
  }

  async end(): Promise<void> {
    for (const socket of [this.#client?.socket, ...this.#others]) socket?.destroy();
    await this.#ground.end(this.#lab, Object.values(this.#servers));
  }

  async #act(action: string): Promise<void> {
    const [who = '', ...rest] = action.split(' ');
    const what = rest.join(' ');
    if (who === 'client') return this.#clientDoes(what);
    if (who === 'other') return this.#otherDoes(what);
    if (who === 'pg-1' || who === 'pg-2') return this.#serverDoes(who, what);
    if (action === 'operator asks it')
      return void this.#lab.proxy
        .preflight('pg-1')
        .then((found) => this.#answers.push(`operator: ${preflightText(found)}`));
    if (action === 'operator takes moves away') return this.#lab.reload();
    if (action === 'operator kills it') return void (await this.#lab.proxy.kill(1));
    if (action === 'operator moves it') return void this.#lab.proxy.move(1).then((result) => this.#reads(result));
    if (action === 'operator moves it, with --abort')
      return void this.#lab.proxy.move(1, true).then((result) => this.#reads(result));
    if (who === 'nobody') return this.#lab.decide({});
    if (action === 'probes halt') return void (this.#cluster.probe = Promise.withResolvers());
    if (action === 'probes go on') return this.#cluster.probe?.resolve();
    if (action === 'both open') return this.#opens(...MEMBERS);
    if (action === 'timeline 2 begins') return void (this.#cluster.timeline = 2);
    if (what === 's pass') return this.#ground.pass(Number(who) * 1_000);
    if (what === 'ms pass') return this.#ground.pass(Number(who));
    throw new Error(`no such line: ${action}`);
  }

  async #clientDoes(what: string): Promise<void> {
    const bytes = SENDS[what];
    if (bytes !== undefined) this.#client?.socket.write(bytes);
    else if (what === 'connects') this.#client = await this.#connects();
    else if (what === 'connects to replicate') this.#client = await this.#connects({ replication: 'true' });
    else if (what === 'cancels') await this.#cancels();
    else if (what === 'looks closer') this.#answers.push(errorDetail(this.#client?.received() ?? Buffer.alloc(0)));
    else if (what === 'vanishes') this.#ground.vanish?.();
    else if (what === 'half-closes') this.#client?.socket.end();
    else if (what === 'leaves') this.#client?.socket.resetAndDestroy();
    else throw new Error(`no such line: client ${what}`);
  }

  /** A second session, of which only the events are told. */
  async #otherDoes(what: string): Promise<void> {
    const bytes = SENDS[what];
    if (bytes !== undefined) this.#others.at(-1)?.write(bytes);
    else if (what === 'connects') this.#others.push((await this.#connects()).socket);
    else if (what === 'leaves') this.#others.at(-1)?.resetAndDestroy();
    else throw new Error(`no such line: other ${what}`);
  }

  async #connects(parameters: Readonly<Record<string, string>> = {}): Promise<RawClient> {
    const client = await this.#ground.connect(this.#lab.address(this.#pool));
    client.socket.write(aStartup({ user: 'app', database: 'shop', ...parameters }));
    return client;
  }

  async #cancels(): Promise<void> {
    const { socket } = await this.#ground.connect(this.#lab.address(this.#pool));
    socket.write(aCancelRequest());
    this.#others.push(socket);
  }

  async #serverDoes(name: Member, what: string): Promise<void> {
    const server = this.#servers[name];
    const { address } = server;
    const [verb, word] = what.split(' ');
    const unnoticed = STANDINGS[what.replace(', unnoticed', '')];
    const decide = (standing: Standing): void =>
      this.#lab.decide({ [this.#pool]: { others: { [name]: { address, standing } } } });
    const standing = STANDINGS[what];
    if (standing !== undefined) return decide(standing);
    if (unnoticed !== undefined) return void (this.#cluster.overdue = () => decide(unnoticed));
    switch (verb) {
      case 'opens':
        return this.#opens(name);
      case 'becomes':
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script names a behaviour of the fake
        return void (server.behaviour = word as FakeBackend['behaviour']);
      case 'refuses':
        return void (await Promise.all([server.refuseConnections(), this.#ground.pass(1)]));
      case 'listens':
        return server.listenAgain();
      case 'halts':
        return void server.last().socket.pause();
      case 'continues':
        return void server.last().socket.resume();
      case 'says':
        return void server.last().socket.write(lastWords(word));
      case 'babbles':
        return void server.last().socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      case 'closes':
        return void server.last().socket.end(word === undefined ? '' : lastWords(word));
      case 'breaks':
        return void server.last().socket.end(Buffer.concat([lastWords(word), lastWords(word).subarray(0, CUT_AT)]));
      case 'reveals':
        return void (this.#cluster.hasWal = true);
      case 'conceals':
        return void (this.#cluster.hasWal = false);
      case undefined:
      default:
        throw new Error(`no such line: ${name} ${what}`);
    }
  }

  #opens(...names: readonly Member[]): void {
    const open = Object.fromEntries(names.map((name) => [name, this.#servers[name].address]));
    this.#lab.decide({ [this.#pool]: { open } });
  }

  #reads(result: MoveResult): void {
    this.#answers.push(`operator: ${moveText(result)}`);
  }

  async #told(): Promise<string> {
    const events = this.#lab.events.slice(this.#seenEvents).flatMap(textOfSession);
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
      ...(bytes.length > 0 ? [] : this.#clientEnds()),
      ...(await this.#place()),
    ].join(' · ');
  }

  #clientEnds(): readonly string[] {
    const { hasEnded = false, wasReset = false } = this.#client ?? {};
    const end = wasReset ? 'client is reset' : hasEnded ? 'client is closed' : '';
    return end === this.#seenEnd ? [] : [end];
  }

  #endsAt(name: Member): number {
    return this.#servers[name].connections.filter(({ hasEnded, isClosed }) => hasEnded || isClosed).length;
  }

  async #place(): Promise<readonly string[]> {
    const [session] = (await this.#lab.proxy.sessions({ limit: 1 })).sessions;
    if (session === undefined) return [];
    const { state, moves } = session;
    if (state === 'relaying') return [session.activity ?? state];
    const { isWaiting, waitsFor, why } = moves?.underway ?? {};
    const place = waitsFor === undefined ? state : `waits for ${waitsFor}`;
    this.#why = why ?? '';
    const news = this.#why === this.#seenWhy || this.#why === '' ? '' : ` (${this.#why})`;
    return [`${isWaiting === true ? 'its client ' : ''}${place}${news}`];
  }
}

/** Plays the script, and holds what happens to what it says: with servers in plain text, and with TLS to them. */
export async function expectScript(script: string, options: ScriptOptions = {}): Promise<void> {
  await expectPlay(script, realGround(false), options);
  await expectPlay(script, realGround(true), { ...options, backend: { ...options.backend, tls: SERVER_TLS } });
}

/** The same on simulated hosts: in milliseconds, for unit tests. */
export function expectQuickScript(script: string, options: ScriptOptions = {}): Promise<void> {
  return expectPlay(script, simulatedGround(), options);
}

/** Nothing stands before the bar. */
const GOES_ON = /\n +\| /g;

async function expectPlay(script: string, ground: Ground, options: ScriptOptions): Promise<void> {
  const lines = script
    .replace(GOES_ON, ' · ')
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const player = await Player.start(ground, options);
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
