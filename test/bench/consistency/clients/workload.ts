// All clients at work, and the record of what each of them did and was told.
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, randomFrom } from '../../../support/branches/quirks.ts';
import { ACCOUNTS, insertNumber, look, parseLook, parsePlace, transferStatements } from '../database.ts';
import type { Client, Outcome, Place, Sight, Write } from '../history.ts';
import { type Application, type DatabaseSession, sqlstateOf } from './application.ts';

/** Between two transactions of one client; milliseconds. */
const PAUSE = { least: 30, most: 150 };
/** After an error, as a careful application. */
const PAUSE_AFTER_ERROR_MS = 100;
/** The server did nothing: it is read only, takes no connections, or the transaction gave way to another one. */
const NOTHING_DONE = new Set(['25006', '57P03', '53300', '40001', '40P01']);

/** Longer than a client may be held, and a session parked. */
const PATIENCE_MS = 60_000;
const UNTOLD = { outcome: 'unknown', place: undefined, words: undefined } as const;

async function withinPatience(work: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(work), delay(PATIENCE_MS, undefined, { ref: false })]);
}

export class Workload {
  readonly clients: Client[] = [];
  readonly writes: Write[] = [];
  readonly sights: Sight[] = [];
  readonly #seed: number;
  readonly #stopping = new AbortController();
  readonly #working: Promise<void>[] = [];
  readonly #applications = new Set<Application>();
  /** By client. */
  readonly #underway = new Map<number, { readonly application: string; readonly write: Write }>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  addWriter(application: Application): void {
    const id = this.#add(application);
    this.clients.push({ id, application: application.name });
    this.#working.push(this.#write(id, application, randomFrom(this.#seed + id)));
  }

  addReader(application: Application, port: Sight['port']): void {
    const id = this.#add(application);
    this.#working.push(this.#read(application, port, randomFrom(this.#seed + id)));
  }

  /** Resolves when all have ended what they are about, or after a time that is enough: some driver never answers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await withinPatience(this.#working);
    for (const { application, write } of this.#underway.values()) {
      this.writes.push({ ...write, endedAtMs: Date.now(), words: `${application} gave no answer` });
    }
    this.#underway.clear();
    await withinPatience([...this.#applications].map((application) => application.stop()));
  }

  #add(application: Application): number {
    this.#applications.add(application);
    return this.#working.length + 1;
  }

  async #write(client: number, application: Application, random: Random): Promise<void> {
    for (let n = 1; !this.#stopping.signal.aborted; n += 1) {
      const kind = n % 3 === 0 ? 'transfer' : 'insert';
      const begun: Write = { client, n, kind, sentAtMs: Date.now(), endedAtMs: 0, ...UNTOLD };
      this.#underway.set(client, { application: application.name, write: begun });
      const write = await writeOnce(begun, application, random, (sight) => this.sights.push(sight));
      if (!this.#underway.delete(client)) return;
      this.writes.push(write);
      await this.#pause(write.outcome === 'acknowledged', random);
    }
  }

  async #read(application: Application, port: Sight['port'], random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const clients = this.clients.map(({ id }) => id);
      const isRead = await application
        .use((session) => lookFrom(session, port, clients))
        .then(
          (sight) => this.sights.push(sight) > 0,
          () => false,
        );
      await this.#pause(isRead, random);
    }
  }

  async #pause(isWell: boolean, random: Random): Promise<void> {
    const ms = isWell ? PAUSE.least + random() * (PAUSE.most - PAUSE.least) : PAUSE_AFTER_ERROR_MS;
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

async function lookFrom(session: DatabaseSession, port: Sight['port'], clients: readonly number[]): Promise<Sight> {
  const answer = parseLook(await session.value(look(clients)));
  return { session: session.name, port, atMs: Date.now(), ...answer };
}

/** A number or a transfer; sometimes the session looks at its own number afterwards. */
async function writeOnce(
  { client, n, kind }: Write,
  application: Application,
  random: Random,
  tell: (sight: Sight) => void,
): Promise<Write> {
  const source = 1 + Math.floor(random() * ACCOUNTS);
  const target = 1 + ((source + Math.floor(random() * (ACCOUNTS - 1))) % ACCOUNTS);
  const transfer = { source, target, amount: 1 + Math.floor(random() * 100) };
  const isLooking = random() < 0.2;
  let [sentAtMs, endedAtMs] = [Date.now(), 0];
  let place: Place | undefined;
  const commit = { isSent: false };
  const work = async (session: DatabaseSession): Promise<void> => {
    sentAtMs = Date.now();
    commit.isSent = kind === 'insert';
    const answer = await (kind === 'insert'
      ? session.value(insertNumber(client, n))
      : session.transaction(transferStatements(client, n, transfer), {
          sending: () => (sentAtMs = Date.now()),
          committing: () => (commit.isSent = true),
        }));
    endedAtMs = Date.now();
    place = parsePlace(answer);
    const seen = new Map(kind === 'insert' ? [[client, n]] : []);
    tell({ session: session.name, port: 'write', atMs: endedAtMs, seen, sum: undefined, primary: undefined });
    // An error from here on says nothing about the write.
    if (isLooking) await lookFrom(session, 'write', [client]).then(tell, () => undefined);
  };
  const end = (outcome: Outcome, words?: string): Write => {
    const endedMs = endedAtMs === 0 ? Date.now() : endedAtMs;
    return { client, n, kind, sentAtMs, endedAtMs: endedMs, outcome, place, words };
  };
  try {
    await application.use(work);
    return end('acknowledged');
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (endedAtMs > 0) return end('acknowledged', words);
    const nothingDone = !commit.isSent || NOTHING_DONE.has(sqlstateOf(error) ?? '');
    return end(nothingDone ? 'refused' : 'unknown', words);
  }
}
