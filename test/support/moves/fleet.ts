// Idle sessions as the pools of an application have them, of every driver: each with settings, a tenant and prepared
// statements. Asked at the end what is left.
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { shownState } from './features.ts';
import type { KnownProgram, ProgramTarget } from './programs.ts';

/** Logins at a time. */
const AT_A_TIME = 8;

export interface FleetVerdict {
  readonly driver: string;
  readonly sessions: number;
  /** As they were. */
  readonly kept: number;
  /** The driver told of something, or a statement failed: each with the name of the session, its application_name. */
  readonly errors: readonly string[];
  /** Without an error, and without their state. */
  readonly changed: readonly string[];
}

interface Pooled {
  readonly session: DrivenSession;
  readonly state: string;
  readonly server: string;
  /** Its state could not be set up. */
  readonly failure: string | undefined;
}

const SERVER = `select host(inet_server_addr()) || ':' || inet_server_port()`;

export class Fleet {
  readonly #drivers: readonly { readonly name: string; readonly pooled: readonly Pooled[] }[];
  readonly #running: readonly RunningProgram[];

  private constructor(
    drivers: readonly { readonly name: string; readonly pooled: readonly Pooled[] }[],
    running: readonly RunningProgram[],
  ) {
    this.#drivers = drivers;
    this.#running = running;
  }

  /** `each`: sessions of each driver. */
  static async open(
    programs: readonly KnownProgram[],
    each: number,
    directory: string,
    to: ProgramTarget,
  ): Promise<Fleet> {
    const running = programs.map((program) => program.start(directory, to));
    const drivers = [];
    for (const [at, { name }] of programs.entries()) {
      const names = Array.from({ length: each }, (_, n) => `pooled-${name}-${n}`);
      const program = running[at];
      if (program === undefined) continue;
      const pooled: Pooled[] = [];
      while (names.length > 0) {
        const some = names.splice(0, AT_A_TIME);
        pooled.push(...(await Promise.all(some.map((one) => pool(program, one)))));
      }
      drivers.push({ name, pooled });
    }
    return new Fleet(drivers, running);
  }

  get size(): number {
    return this.#drivers.reduce((sum, { pooled }) => sum + pooled.length, 0);
  }

  /** Uses every session once more. `elsewhere`: it must be on another server than at the beginning. */
  async judge(where: 'elsewhere' | 'anywhere' = 'elsewhere'): Promise<readonly FleetVerdict[]> {
    const verdicts: FleetVerdict[] = [];
    for (const { name, pooled } of this.#drivers) {
      const found = await Promise.all(pooled.map((one) => judged(one, where)));
      verdicts.push({
        driver: name,
        sessions: pooled.length,
        kept: found.filter((one) => one === undefined).length,
        errors: found.flatMap((one) => one?.error ?? []),
        changed: found.flatMap((one) => one?.changed ?? []),
      });
    }
    return verdicts;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((program) => program.stop()));
  }
}

async function pool(program: RunningProgram, name: string): Promise<Pooled> {
  const session = await program.open(name);
  const failure = await setUp(session).then(
    () => undefined,
    (error: unknown) => `before the switchover: ${String(error)}`,
  );
  // A driver that prepares every statement prepares this one, too.
  const server = await session.value(SERVER);
  return { session, state: await shownState(session), server, failure };
}

async function setUp(session: DrivenSession): Promise<void> {
  await session.run(`set work_mem = '9MB'`);
  await session.run(`set app.tenant = 'blue'`);
  for (let n = 1; n <= 3; n += 1) {
    await session.ask('prepare', `pooled ${n}`, `select $1::int + ${n}`);
    await session.ask('execute', `pooled ${n}`, 1);
  }
}

async function judged(
  pooled: Pooled,
  where: 'elsewhere' | 'anywhere',
): Promise<{ error?: string; changed?: string } | undefined> {
  const { session, state, server, failure } = pooled;
  const of = (text: string): string => `${session.name}: ${text}`;
  if (failure !== undefined) return { error: of(failure) };
  try {
    const isKept =
      (await shownState(session)) === state &&
      (await session.value(`select string_agg(note, ',') from notes`)) === 'for blue' &&
      (await session.ask('execute', 'pooled 2', 40)) === '42' &&
      (where === 'anywhere' || (await session.value(SERVER)) !== server);
    if (session.events.length > 0) return { error: of(session.events.join('; ')) };
    return isKept ? undefined : { changed: of(await shownState(session)) };
  } catch (error) {
    return { error: of(`${String(error)} ${session.events.join('; ')}`) };
  }
}
