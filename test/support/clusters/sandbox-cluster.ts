// The sandbox as a cluster under test: its own verbs break and mend it. All else goes through its management API and
// SQL, as with any other cluster.
import { readFileSync } from 'node:fs';
import type { DialectName, Sandbox, SandboxMember, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { type ClusterDocument, parseMemberStatus, type Tags } from '../patroni/documents.ts';
import { CREATE_DIRECT_WRITES, type Floor, watchFirstDirectWrite } from '../patroni/floor.ts';
import { findPrimary, healthy, joined, readClusterDocument } from '../patroni/health.ts';
import { ask, type HttpQuestion } from '../patroni/http.ts';
import type { AskedMember, MemberAddress } from '../patroni/member.ts';
import { refusesConnections } from '../sockets/free-ports.ts';
import { patchConfig, restartPostgres, waitForTags } from '../patroni/requests.ts';
import type { ClusterOptions, Credentials, ServerTls } from '../patroni/settings.ts';
import { trustIn } from '../patroni/site-tls.ts';
import { type Row, runSql, type SqlOptions } from '../patroni/sql.ts';
import { startKeptSandbox } from '../sandbox/kept-cluster.ts';
import { waitUntil } from '../waiting/wait.ts';
import type { ClusterTls, ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { APP_PASSWORD } from '../values/canaries.ts';

const FAILOVER_TIMEOUT_MS = 20_000;
const REJOIN_TIMEOUT_MS = 30_000;
const EVENTS_SHOWN = 30;

export type SandboxClusterOptions = ClusterOptions & {
  readonly dialect?: DialectName;
  /** The embedded one unless told. */
  readonly postgres?: NonNullable<SandboxOptions['postgres']>;
};

export class SandboxCluster implements ClusterUnderTest {
  readonly scope: string;
  readonly app: Credentials;
  readonly tls: ClusterTls | undefined;
  readonly superuser: Omit<Credentials, 'database'>;
  readonly #sandbox: Sandbox;
  readonly #members: readonly AskedMember[];
  readonly #events: readonly string[];
  readonly #dead = new Set<string>();

  private constructor(sandbox: Sandbox, statusPath: string, events: readonly string[]) {
    this.scope = sandbox.scope;
    const { tls } = sandbox;
    const ssl = tls && trustIn(tls.caFile, readFileSync(tls.caFile, 'utf8'));
    this.app = { ...sandbox.app, password: APP_PASSWORD, ...(ssl && { ssl }) };
    this.tls = tls;
    this.superuser = sandbox.superuser;
    this.#sandbox = sandbox;
    this.#members = sandbox.members.map((member) => askedMember(member, statusPath, ssl));
    this.#events = events;
  }

  /** Healthy when it returns. */
  static async start(options: SandboxClusterOptions = {}): Promise<SandboxCluster> {
    const events: string[] = [];
    const { members = 3, dialect = 'manager', postgres = 'embedded', tls = false } = options;
    const sandbox = await startKeptSandbox({
      members,
      dialect,
      postgres,
      tls,
      config: dynamicConfig(options),
      onEvent: (event) => void events.push(`${new Date().toISOString()} ${JSON.stringify(event)}`),
    });
    const cluster = new SandboxCluster(sandbox, `/${dialect}`, events);
    try {
      await cluster.waitUntilHealthy();
      const { name } = await cluster.leader();
      await cluster.sql(name, `alter role ${cluster.app.user} password '${APP_PASSWORD}'`);
      await cluster.sql(name, CREATE_DIRECT_WRITES, { as: cluster.app });
      return cluster;
    } catch (error) {
      await cluster.destroy();
      throw error;
    }
  }

  members(): readonly MemberAddress[] {
    return this.#members.map(({ address }) => address);
  }

  member(name: string): MemberAddress {
    return this.#member(name).address;
  }

  async leader(): Promise<MemberAddress> {
    const primary = await this.waitUntil('a primary', () => findPrimary(this.#living()), FAILOVER_TIMEOUT_MS);
    return primary.address;
  }

  async waitUntilHealthy(): Promise<void> {
    await this.waitUntil('cluster healthy', () => healthy(this.#living()), REJOIN_TIMEOUT_MS);
  }

  waitUntil<T>(what: string, asked: () => Promise<T | undefined | false>, timeoutMs: number): Promise<T> {
    return waitUntil(what, asked, { timeoutMs, explain: () => this.describeState() });
  }

  async describeState(): Promise<string> {
    const [document, statuses] = await Promise.all([
      readClusterDocument(this.#members, 2000),
      Promise.all(this.#members.map((member) => member.status(1000))),
    ]);
    return [
      `/cluster: ${document === undefined ? 'no answer' : JSON.stringify(document)}`,
      ...this.#members.map(({ name }, index) => `${name}: ${JSON.stringify(statuses[index] ?? 'no answer')}`),
      `faulty: ${this.#sandbox.faulty().join(', ')}`,
      '--- events',
      ...this.#events.slice(-EVENTS_SHOWN),
    ].join('\n');
  }

  async switchover(options: { readonly to?: string } = {}): Promise<MemberAddress> {
    const old = this.#member((await this.leader()).name);
    const body = { leader: old.name, candidate: options.to };
    const answer = await old.ask('/switchover', { method: 'POST', body, timeoutMs: FAILOVER_TIMEOUT_MS });
    if (answer?.status !== 200) {
      throw new Error(`switchover: ${answer?.status} ${answer?.text}\n${await this.describeState()}`);
    }
    const others = this.#living().filter((member) => member !== old);
    const takesWrites = async () => {
      const primary = await findPrimary(others);
      if (primary === undefined) return undefined;
      const { address, name } = primary;
      await runSql(address, `insert into direct_writes (member) values ('${name}')`, { as: this.app });
      return address;
    };
    return this.waitUntil(`switchover from ${old.name}`, takesWrites, FAILOVER_TIMEOUT_MS);
  }

  async kill(name: string): Promise<void> {
    const { host, port, api } = this.member(name);
    this.#dead.add(name);
    await this.#sandbox.kill(name);
    const ports = [port, Number(new URL(api).port)];
    const refuse = async () => (await Promise.all(ports.map((one) => refusesConnections(host, one)))).every(Boolean);
    await this.waitUntil(`ports of ${name} refuse`, refuse, 2000);
  }

  async start(name: string): Promise<void> {
    const member = this.#member(name);
    await this.#sandbox.heal(name);
    this.#dead.delete(name);
    await this.waitUntil(`${name} joined`, () => joined(member, this.#living()), REJOIN_TIMEOUT_MS);
  }

  async restart(name: string): Promise<void> {
    const member = this.#member(name);
    await restartPostgres(member, () => this.describeState());
    await this.waitUntil(`${name} joined`, () => joined(member, this.#living()), REJOIN_TIMEOUT_MS);
  }

  freezeManager(name: string): Promise<void> {
    return this.#sandbox.freezeManager(name);
  }

  async thawManager(name: string): Promise<void> {
    await this.#sandbox.heal(name);
    const answers = async () => (await this.#member(name).status()) !== undefined;
    await this.waitUntil(`${name} answers again`, answers, 10_000);
  }

  freezePostgres(name: string): Promise<void> {
    return this.#sandbox.freezePostgres(name);
  }

  lagReplica(name: string): Promise<void> {
    return this.#sandbox.pauseReplay(name);
  }

  unlagReplica(name: string): Promise<void> {
    return this.#sandbox.heal(name);
  }

  setStoreOutage(isDown: boolean): Promise<void> {
    this.#sandbox.setStoreOutage(isDown);
    return Promise.resolve();
  }

  /** Takes effect with the next reload. */
  configureTags(name: string, tags: Tags): Promise<void> {
    return this.#sandbox.setTags(name, tags);
  }

  async setTags(name: string, tags: Tags): Promise<void> {
    await this.#sandbox.setTags(name, tags);
    await waitForTags(this.#member(name), tags, () => this.describeState());
  }

  patchConfig(patch: Readonly<Record<string, unknown>>): Promise<void> {
    return patchConfig(this.#living(), patch, () => this.describeState());
  }

  /** Its managers keep the parameter for themselves. */
  async setReplayDelay(delayMs: number): Promise<void> {
    for (const { name } of this.members()) {
      await this.sql(name, `alter system set recovery_min_apply_delay = '${delayMs}ms'`);
      await this.sql(name, 'select pg_reload_conf()');
    }
  }

  sql(name: string, text: string, options: SqlOptions = {}): Promise<Row[]> {
    const superuser = { ...this.#sandbox.superuser, database: this.app.database };
    return runSql(this.member(name), text, { as: superuser, ...options });
  }

  clusterDocument(): Promise<ClusterDocument | undefined> {
    return readClusterDocument(this.#living(), 5000);
  }

  watchFirstDirectWrite(options: { readonly excluding?: string; readonly timeoutMs?: number } = {}): Floor {
    const members = this.#members.filter((member) => member.name !== options.excluding);
    const explain = () => this.describeState();
    const { timeoutMs = FAILOVER_TIMEOUT_MS } = options;
    return watchFirstDirectWrite({ members, as: this.app, timeoutMs, explain });
  }

  destroy(): Promise<void> {
    return this.#sandbox.stop();
  }

  #living(): readonly AskedMember[] {
    return this.#members.filter(({ name }) => !this.#dead.has(name));
  }

  #member(name: string): AskedMember {
    const member = this.#members.find((one) => one.name === name);
    if (member === undefined) throw new Error(`no member ${name}`);
    return member;
  }
}

function askedMember(member: SandboxMember, statusPath: string, ssl: ServerTls | undefined): AskedMember {
  const { name, host, port, api } = member;
  const asked = (path: string, question: HttpQuestion = {}) => ask(`${api}${path}`, question);
  const status = async (timeoutMs = 1000) => parseMemberStatus(await asked(statusPath, { timeoutMs }));
  return { name, address: { name, host, port, api, ssl }, ask: asked, status };
}

/** Undefined values are left out, so that the sandbox has its own defaults. */
function dynamicConfig(options: ClusterOptions): Readonly<Record<string, unknown>> {
  const { failsafeMode, maximumLagOnFailoverBytes, parameters, synchronousMode } = options;
  return {
    ...(failsafeMode === undefined ? {} : { failsafe_mode: failsafeMode }),
    ...(maximumLagOnFailoverBytes === undefined ? {} : { maximum_lag_on_failover: maximumLagOnFailoverBytes }),
    ...(synchronousMode === undefined ? {} : { synchronous_mode: synchronousMode }),
    postgresql: { parameters: { max_connections: '200', ...parameters } },
  };
}
