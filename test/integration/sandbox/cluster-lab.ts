// A sandbox under test: one start per file, queries over its management API and SQL as from any client, one end per
// file.
import { expect } from 'vitest';
import type { Sandbox, SandboxEvent, SandboxMember } from '../../../src/sandbox/sandbox.ts';
import { startKeptSandbox } from '../../support/sandbox/kept-cluster.ts';
import { isRecord } from '../../support/patroni/documents.ts';
import { ask, type HttpAnswer } from '../../support/patroni/http.ts';
import { type Row, runSql } from '../../support/patroni/sql.ts';
import { waitUntil } from '../../support/waiting/wait.ts';

export const STARTING_MS = 60_000;
const WITHIN_MS = 15_000;

export class ClusterLab {
  readonly sandbox: Sandbox;
  readonly events: readonly SandboxEvent[];

  private constructor(sandbox: Sandbox, events: readonly SandboxEvent[]) {
    this.sandbox = sandbox;
    this.events = events;
  }

  static async start(config: Readonly<Record<string, unknown>> = {}): Promise<ClusterLab> {
    const events: SandboxEvent[] = [];
    const sandbox = await startKeptSandbox({ config, onEvent: (event) => events.push(event) });
    return new ClusterLab(sandbox, events);
  }

  names(): readonly string[] {
    return this.sandbox.members.map(({ name }) => name);
  }

  leader(): string {
    return this.sandbox.leader()?.name ?? expect.fail('nobody has the lock');
  }

  /** All members except the leader. */
  replicas(): readonly [string, string] {
    const leader = this.leader();
    const [one, two] = this.names().filter((name) => name !== leader);
    return [one ?? '', two ?? ''];
  }

  member(name: string): SandboxMember {
    return this.sandbox.members.find((member) => member.name === name) ?? expect.fail(`no member ${name}`);
  }

  get(name: string, path: string, timeoutMs = 2000): Promise<HttpAnswer | undefined> {
    return ask(`${this.member(name).api}${path}`, { timeoutMs });
  }

  async send(name: string, method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const answer = await ask(`${this.member(name).api}${path}`, { method, body, timeoutMs: WITHIN_MS });
    return answer ?? expect.fail(`${method} ${path} of ${name}: no answer`);
  }

  async patch(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const answer = await this.send(this.#leaderOrAnybody(), 'PATCH', '/config', changes);
    expect(answer.status, answer.text).toBe(200);
  }

  /** The JSON of a read endpoint, of any shape. */
  async read(name: string, path: string): Promise<unknown> {
    const answer = await this.get(name, path);
    return JSON.parse(answer?.text ?? expect.fail(`${path} of ${name}: no answer`));
  }

  /** The node status document. */
  async status(name: string): Promise<Readonly<Record<string, unknown>>> {
    const document = await this.read(name, '/manager');
    return isRecord(document) ? document : expect.fail(`${name}: the status is no object`);
  }

  async isYes(name: string, path: string): Promise<boolean> {
    return (await this.get(name, path))?.status === 200;
  }

  /** Runs as the application, or as superuser in its database. */
  sql(name: string, text: string, as: 'app' | 'superuser' = 'app'): Promise<Row[]> {
    const { app, superuser } = this.sandbox;
    const credentials = as === 'app' ? app : { ...superuser, database: app.database };
    return runSql(this.member(name), text, { as: credentials, timeoutMs: 5000 });
  }

  wait<T>(what: string, asked: () => Promise<T | undefined | false>, timeoutMs = WITHIN_MS): Promise<T> {
    const explain = () =>
      Promise.resolve(
        this.events
          .slice(-30)
          .map((event) => JSON.stringify(event))
          .join('\n'),
      );
    return waitUntil(what, asked, { timeoutMs, everyMs: 20, explain });
  }

  async healthy(): Promise<void> {
    await this.wait('healthy', () => this.sandbox.isHealthy(), 30_000);
  }

  /** Resolves with a leader other than `old` that accepts writes. */
  newLeader(old: string): Promise<string> {
    return this.wait(`a leader after ${old}`, async () => {
      const name = this.sandbox.leader()?.name;
      if (name === undefined || name === old) return undefined;
      await this.sql(name, 'create temporary table proof ()');
      return name;
    });
  }

  /** The texts of the events of a member since the index `since`. */
  toldOf(name: string, since: number): string {
    const told = this.events.slice(since).filter((event) => event.kind === 'member_state');
    return told.flatMap(({ text }) => (text.startsWith(`${name}: `) ? [text] : [])).join('; ');
  }

  #leaderOrAnybody(): string {
    return this.sandbox.leader()?.name ?? this.names()[0] ?? '';
  }
}
