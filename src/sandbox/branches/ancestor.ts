// The origins of branches: the cluster itself (the root), and other branches.
import { dirname, join } from 'node:path';
import { parseLsn } from '../../model/lsn.ts';
import type { SandboxServer, PostgresServer } from '../postgres/postgres-server.ts';
import type { Parameters } from '../postgres/server-types.ts';
import { CLUSTER_WIDE_DEFAULTS } from '../postgres/settings-files.ts';
import type { BaseCopy, CopyUse } from './base-copy.ts';
import type { BranchOrigin } from './grow.ts';
import type { WalSource } from './wal-source.ts';

export interface LineagePosition {
  readonly timeline: number;
  readonly position: number;
}

export interface Ancestor {
  readonly id: string;
  /** Undefined: of the root. */
  readonly ancestor: Ancestor | undefined;
  readonly source: WalSource;
  /** Those that may serve to recover this position. */
  copies(position: number): readonly BaseCopy[];
  /** The end of its WAL. Rejects when its server does not answer. */
  position(): Promise<LineagePosition>;
  /** For a list, which a server that is down must not make fail: the last one that is known. */
  lastPosition(): Promise<number>;
  /** No branch begins before this position. */
  readonly beginsAt: number;
  /** The state at a position that is not before `beginsAt`. */
  originAt(position: LineagePosition): BranchOrigin;
  /** Settings that a server needs to recover its WAL. */
  parameters(): Promise<Parameters>;
}

const QUERY_WITHIN_MS = 10_000;

/** The sandbox's cluster, by its primary of the moment. */
export class Root implements Ancestor {
  readonly id: string;
  readonly ancestor = undefined;
  readonly beginsAt = 0;
  readonly source: WalSource;
  readonly #primary: () => PostgresServer | undefined;
  /** Newest last. A retired copy serves up to a position: later WAL may be gone. */
  #copies: readonly { readonly copy: BaseCopy; readonly upTo: number }[] = [];
  #last = 0;

  /** `archive`: of all members together. */
  constructor(id: string, archive: string, primary: () => PostgresServer | undefined) {
    this.id = id;
    this.#primary = primary;
    const live = (): readonly string[] => [primary()].flatMap((server) => (server === undefined ? [] : walOf(server)));
    this.source = { directories: () => [archive, ...live()], inherited: undefined };
  }

  /** Rejects while there is none. */
  primary(): PostgresServer {
    const server = this.#primary();
    if (server === undefined) throw new Error('the cluster has no primary now');
    return server;
  }

  copies(position: number): readonly BaseCopy[] {
    return this.#copies.filter(({ upTo }) => position <= upTo).map(({ copy }) => copy);
  }

  recentCopies(count: number): readonly BaseCopy[] {
    return this.#copies.slice(-count).map(({ copy }) => copy);
  }

  addCopy(copy: BaseCopy): void {
    this.#copies = [...this.#copies, { copy, upTo: Number.POSITIVE_INFINITY }];
  }

  /** Keeps the last copies, and those in use for that alone. Returns the others. */
  retire(count: number, uses: readonly CopyUse[]): readonly BaseCopy[] {
    const recent = this.#copies.slice(-count);
    const older = this.#copies.slice(0, -count).map(({ copy }) => ({
      copy,
      upTo: Math.max(0, ...uses.filter(({ base }) => base === copy).map((use) => use.upTo)),
    }));
    this.#copies = [...older.filter(({ upTo }) => upTo > 0), ...recent];
    return older.filter(({ upTo }) => upTo === 0).map(({ copy }) => copy);
  }

  async position(): Promise<LineagePosition> {
    const asked = await askPosition(this.primary());
    this.#last = asked.position;
    return asked;
  }

  async lastPosition(): Promise<number> {
    await this.position().catch(() => undefined);
    return this.#last;
  }

  originAt({ timeline, position }: LineagePosition): BranchOrigin {
    return { source: this.source, timeline, position };
  }

  parameters(): Promise<Parameters> {
    return askParameters(this.primary());
  }
}

export interface Birth extends LineagePosition {
  /** The next transaction id: a branch that has written nothing still has it. */
  readonly nextXid: string;
}

/** A branch with a server of its own. */
export class TimelineBranch implements Ancestor {
  readonly id: string;
  readonly ancestor: Ancestor;
  readonly server: SandboxServer;
  readonly source: WalSource;
  readonly #origin: BranchOrigin;
  #birth: Birth | undefined;
  #last: number;

  /** `upTo`: the timeline that it leaves. */
  constructor(id: string, ancestor: Ancestor, server: SandboxServer, origin: BranchOrigin, upTo: number) {
    this.id = id;
    this.ancestor = ancestor;
    this.server = server;
    this.#origin = origin;
    this.#last = origin.position;
    const directories = [join(dirname(server.dataDirectory), 'wal'), walOf(server)];
    this.source = { directories: () => directories, inherited: { from: origin.source, upTo } };
  }

  get beginsAt(): number {
    return this.#origin.position;
  }

  /** It accepts writes; the sandbox itself has written nothing to it yet. */
  async born(): Promise<void> {
    this.#birth = await askPosition(this.server);
  }

  copies(): readonly BaseCopy[] {
    const { inherited } = this.source;
    return this.ancestor.copies(this.beginsAt).filter(({ timeline }) => timeline <= (inherited?.upTo ?? 0));
  }

  /**
   * Where it began, until a transaction of its own has written. Checkpoints and the end of recovery write WAL too, and
   * change no data.
   */
  async position(): Promise<LineagePosition> {
    const birth = this.#birth;
    if (birth === undefined) return { timeline: this.#origin.timeline, position: this.beginsAt };
    const { timeline, position, nextXid } = await askPosition(this.server);
    const isWritten = nextXid !== birth.nextXid;
    this.#last = isWritten ? position : this.beginsAt;
    return { timeline, position: this.#last };
  }

  async lastPosition(): Promise<number> {
    await this.position().catch(() => undefined);
    return this.#last;
  }

  originAt({ timeline, position }: LineagePosition): BranchOrigin {
    const isAtBirth = this.#birth === undefined || position <= this.#birth.position;
    return isAtBirth ? this.#origin : { source: this.source, timeline, position };
  }

  parameters(): Promise<Parameters> {
    return askParameters(this.server);
  }
}

function walOf(server: PostgresServer): string {
  return join(server.dataDirectory, 'pg_wal');
}

async function askPosition(server: PostgresServer): Promise<Birth> {
  const [row] = await server.query<{ lsn: string; file: string; xid: string }>(
    `select lsn::text, pg_walfile_name(lsn) as file, pg_snapshot_xmax(pg_current_snapshot())::text as xid
     from pg_current_wal_lsn() as lsn`,
    [],
    QUERY_WITHIN_MS,
  );
  const position = parseLsn(row?.lsn ?? '');
  if (row === undefined || position === undefined) throw new Error(`${server.name} gave no position`);
  return { timeline: Number.parseInt(row.file.slice(0, 8), 16), position, nextXid: row.xid };
}

async function askParameters(server: PostgresServer): Promise<Parameters> {
  const names = Object.keys(CLUSTER_WIDE_DEFAULTS);
  const rows = await server.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [names],
    QUERY_WITHIN_MS,
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}
