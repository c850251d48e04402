// A sandbox with branches under test: both APIs by plain HTTP, as any client speaks it, and SQL on each branch.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { expect } from 'vitest';
import { readPostmasterFile } from '../../../src/sandbox/postgres/postmaster-file.ts';
import { runStatement } from '../../../src/sandbox/console/statement.ts';
import type { BranchPlace, Sandbox, SandboxBranches } from '../../../src/sandbox/sandbox.ts';
import { waitUntil } from '../waiting/wait.ts';
import { startKeptSandbox } from './kept-cluster.ts';

const WITHIN_MS = 60_000;

export interface HttpReply {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of the API under test
  readonly body: any;
}

type Place = Pick<BranchPlace, 'host' | 'port'>;

export class BranchesLab {
  readonly sandbox: Sandbox;
  readonly branches: SandboxBranches;

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.branches = sandbox.branches ?? expect.fail('the sandbox has no branches');
  }

  /** With the table `rows (id)` in the cluster, which is empty. */
  static async start(): Promise<BranchesLab> {
    const lab = new BranchesLab(await startKeptSandbox({ branches: true }));
    await lab.sql(lab.leader(), 'create table rows (id int)');
    return lab;
  }

  leader(): Place & { readonly name: string; readonly api: string } {
    return this.sandbox.leader() ?? expect.fail('no member has the leader lock');
  }

  async sql(place: Place, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { rows } = await runStatement(`postgresql://app:app@${place.host}:${place.port}/app`, statement);
    return rows;
  }

  async insert(place: Place, count: number): Promise<void> {
    await this.sql(place, `insert into rows select generate_series(1, ${count})`);
  }

  async count(place: Place): Promise<number> {
    const [row] = await this.sql(place, 'select count(*)::int as count from rows');
    return Number(row?.['count']);
  }

  storage(method: string, path: string, body?: unknown): Promise<HttpReply> {
    return this.#send(`${this.branches.storageUrl}${path}`, method, body);
  }

  /** Below the tenant's timelines: `''`, `/` or `/ID`. */
  timeline(method: string, path: string, body?: unknown): Promise<HttpReply> {
    return this.storage(method, `/v1/tenant/${this.branches.tenant}/timeline${path}`, body);
  }

  async positionOf(id: string): Promise<string> {
    const { body } = await this.timeline('GET', `/${id}`);
    return String(body.last_record_lsn);
  }

  /** Repeats the request until the timeline is durable, as a caller has to; resolves with the last answer. */
  create(request: unknown): Promise<HttpReply> {
    const attempt = async (): Promise<HttpReply | undefined> => {
      const reply = await this.timeline('POST', '/', request);
      return reply.status === 503 ? undefined : reply;
    };
    return waitUntil('a durable timeline', attempt, { timeoutMs: WITHIN_MS });
  }

  async branch(ancestor = this.branches.rootTimeline, lsn?: string): Promise<BranchPlace> {
    const id = randomBytes(16).toString('hex');
    const { status, body } = await this.create({
      new_timeline_id: id,
      ancestor_timeline_id: ancestor,
      ancestor_start_lsn: lsn,
      pg_version: this.branches.pgMajor,
    });
    expect([status, body.msg]).toEqual([201, undefined]);
    return this.branches.timelines().find((one) => one.id === id) ?? expect.fail(`${id} is not in the list`);
  }

  /** Kills the server; resolves when another process has its place. */
  async replaceServer(place: Place): Promise<void> {
    const [row] = await this.sql(place, "select current_setting('cluster_name') as name");
    const data = join(this.sandbox.directory, String(row?.['name']), 'data');
    const pid = (await readPostmasterFile(data))?.pid ?? expect.fail('no server');
    kill(pid, 'SIGKILL');
    const isBack = async (): Promise<boolean> => {
      const now = await readPostmasterFile(data);
      return now?.isReady === true && now.pid !== pid;
    };
    await waitUntil('another server', isBack, { timeoutMs: WITHIN_MS });
  }

  async console(method: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpReply> {
    const { consoleUrl, project, apiKeyFile } = this.branches;
    const key = (await readFile(apiKeyFile, 'utf8')).trim();
    const all = headers ?? { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return this.#send(`${consoleUrl}/api/v2/projects/${project}/branches`, method, body, all);
  }

  async #send(
    url: string,
    method: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ): Promise<HttpReply> {
    const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(url, { method, headers, ...init, signal: AbortSignal.timeout(WITHIN_MS) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}
