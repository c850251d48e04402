// A real Patroni cluster as a test sees it. Each verb waits for its effect, bounded by a deadline; a deadline
// that passes fails with the state the cluster was in. destroy() leaves no process, port or file behind.
import { rm } from 'node:fs/promises';
import type { ClusterTls, ClusterUnderTest } from './cluster-under-test.ts';
import type { ClusterDocument, Tags } from './documents.ts';
import { describeState } from './diagnosis.ts';
import { Etcd } from './etcd.ts';
import { type Floor, watchFirstDirectWrite } from './floor.ts';
import { findPrimary, healthy, joined, readClusterDocument } from './health.ts';
import { Member, type MemberAddress } from './member.ts';
import { areFree, refusesConnections } from '../sockets/free-ports.ts';
import { patchConfig, requestSwitchover, restartPostgres, waitForTags } from './requests.ts';
import { type ApiTls, APP, type Credentials, SUPERUSER } from './settings.ts';
import { memberAddress, type Site } from './site.ts';
import { type Row, runSql, type SqlOptions } from './sql.ts';
import { waitUntil } from '../waiting/wait.ts';

const FAILOVER_TIMEOUT_MS = 45_000;
const SWITCHOVER_TIMEOUT_MS = 30_000;
const REJOIN_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;

export type SwitchoverOptions = {
  readonly to?: string;
  /** `accepted`: the leader took the request, its gap begins. `writable` (default): the new primary took a write. */
  readonly until?: 'accepted' | 'writable';
};

export class PatroniCluster implements ClusterUnderTest {
  readonly scope: string;
  readonly app: Credentials;
  readonly tls: ClusterTls | undefined;
  readonly superuser = SUPERUSER;
  readonly #site: Site;
  readonly #etcd: Etcd;
  readonly #members = new Map<string, Member>();
  #addressesUsed = 0;

  constructor(site: Site) {
    this.#site = site;
    this.scope = site.scope;
    this.app = { ...APP, ...(site.tls && { ssl: site.tls.trust }) };
    this.tls = site.tls && { caFile: site.tls.trust.caFile, ...site.tls.pointsman };
    this.#etcd = new Etcd(site);
  }

  members(): MemberAddress[] {
    return this.#all().map((member) => member.address);
  }

  member(name: string): MemberAddress {
    return this.#member(name).address;
  }

  /** The directory that destroy() removes. */
  directory(): string {
    return this.#site.directory;
  }

  /** The primary, by /primary and its body; waits for one, at most for a failover. */
  async leader(timeoutMs = FAILOVER_TIMEOUT_MS): Promise<MemberAddress> {
    const primary = await this.#primary(timeoutMs);
    return primary.address;
  }

  /** Each running member streams from the one primary, on its timeline. Killed and stopped ones do not count. */
  async waitUntilHealthy(timeoutMs = REJOIN_TIMEOUT_MS): Promise<void> {
    await this.waitUntil('cluster healthy', () => healthy(this.#running()), timeoutMs);
  }

  /** For a test's own conditions, with the state of the cluster in the failure message. */
  waitUntil<T>(what: string, ask: () => Promise<T | undefined | false>, timeoutMs: number): Promise<T> {
    return waitUntil(what, ask, { timeoutMs, explain: () => this.describeState() });
  }

  /** False when it was killed, or ended by itself with everything that it had started. */
  isRunning(name: string): boolean {
    return this.#member(name).isRunning();
  }

  /** Its Patroni and its PostgreSQL write it, from the first start on. */
  logFile(name: string): string {
    return this.#member(name).logFile;
  }

  describeState(): Promise<string> {
    return describeState(this.#all(), this.#etcd);
  }

  /** Resolves with the new leader; with `until: 'accepted'` still the old one. */
  async switchover(options: SwitchoverOptions = {}): Promise<MemberAddress> {
    const old = await this.#primary(FAILOVER_TIMEOUT_MS);
    const explain = () => this.describeState();
    const request = await requestSwitchover(old, options.to, this.#etcd, this.scope, explain);
    if (options.until === 'accepted') return old.address;
    const others = this.#running().filter((member) => member !== old);
    const findWritable = async () => {
      const primary = await findPrimary(others);
      if (primary === undefined) return request.refusal();
      await runSql(primary.address, `insert into direct_writes (member) values ('${primary.name}')`, { as: APP });
      return primary.address;
    };
    const limits = { timeoutMs: SWITCHOVER_TIMEOUT_MS, explain };
    const outcome = await waitUntil(`switchover from ${old.name}`, findWritable, limits);
    if (typeof outcome === 'string') throw new Error(`${outcome}\n${await explain()}`);
    return outcome;
  }

  /** As if its host died, except that its ports refuse. */
  async kill(name: string): Promise<void> {
    const member = this.#member(name);
    await member.kill();
    await this.#portsRefuse(member);
  }

  /** Clean: Patroni stops PostgreSQL and gives the leader key back. */
  async stop(name: string): Promise<void> {
    const member = this.#member(name);
    await this.#withState([member], () => member.stop(STOP_TIMEOUT_MS));
    await this.#portsRefuse(member);
  }

  /** Returns when the member streams from the primary, or is it. */
  async start(name: string): Promise<void> {
    const member = this.#member(name);
    await this.launch(name);
    const hasJoined = () => joined(member, this.#running());
    await this.#wait(`${name} joined`, hasJoined, REJOIN_TIMEOUT_MS, [member]);
  }

  /** Starts a member's processes without waiting for anything. */
  async launch(name: string): Promise<void> {
    await this.#member(name).launch();
  }

  /** Until one member holds the right to initialise: a member that starts later can only copy it. */
  async waitUntilInitializing(timeoutMs: number): Promise<void> {
    const isClaimed = async () => (await this.#etcd.read(`/service/${this.scope}/initialize`)) !== undefined;
    await waitUntil('initialisation begun', isClaimed, { timeoutMs, everyMs: 20, explain: () => this.describeState() });
  }

  async restart(name: string): Promise<void> {
    const member = this.#member(name);
    await restartPostgres(member, () => describeState(this.#all(), this.#etcd, [member]));
    const hasJoined = () => joined(member, this.#running());
    await this.#wait(`${name} joined`, hasJoined, REJOIN_TIMEOUT_MS, [member]);
  }

  /** TCP still connects to its API, but never gets an answer. */
  freezeManager(name: string): Promise<void> {
    return this.#member(name).freezePatroni();
  }

  async thawManager(name: string): Promise<void> {
    const member = this.#member(name);
    member.thawPatroni();
    await this.#wait(`${name} answers again`, async () => (await member.status()) !== undefined, 10_000, [member]);
  }

  /** Its PostgreSQL goes on, without anybody who stops it when another member is promoted. */
  killManager(name: string): void {
    this.#member(name).killPatroni();
  }

  /** Its PostgreSQL alone, which Patroni notices. */
  killPostgres(name: string): Promise<void> {
    return this.#member(name).killPostgres();
  }

  freezePostgres(name: string): Promise<void> {
    return this.#member(name).freezePostgres();
  }

  /**
   * Patroni 3.0.2 with etcd's v3 API: a leader whose PostgreSQL was frozen beyond ttl takes the key back from
   * its elected successor (patroni #2689), on the lower timeline, and the others may be stuck on the higher one.
   */
  async thawPostgres(name: string): Promise<void> {
    const member = this.#member(name);
    await member.thawPostgres();
    // Patroni may just be restarting it as a replica, which refuses for a moment.
    const answers = async () => (await runSql(member.address, 'select 1')).length === 1;
    await this.#wait(`${name} takes SQL again`, answers, 30_000, [member]);
  }

  /** Its replay stands still from now on; what the primary writes is received but not seen. */
  lagReplica(name: string): Promise<void> {
    return this.#member(name).lag();
  }

  unlagReplica(name: string): Promise<void> {
    return this.#member(name).unlag();
  }

  stopEtcd(): Promise<void> {
    return this.#etcd.stop();
  }

  startEtcd(): Promise<void> {
    return this.#etcd.start();
  }

  setStoreOutage(isDown: boolean): Promise<void> {
    return isDown ? this.stopEtcd() : this.startEtcd();
  }

  /** Takes effect with the next reload. */
  configureTags(name: string, tags: Tags): void {
    this.#member(name).configureTags(tags);
  }

  /** Replaces all tags; returns when the member's own status shows them. */
  async setTags(name: string, tags: Tags): Promise<void> {
    const member = this.#member(name);
    member.configureTags(tags);
    await waitForTags(member, tags, () => describeState(this.#all(), this.#etcd, [member]));
  }

  /** For all members. The caller waits for what changes: the APIs begin anew within seconds. */
  setApiTls(apiTls: ApiTls): void {
    for (const member of this.#running()) member.setApiTls(apiTls);
  }

  /** Merged into the dynamic configuration (null removes a key); members follow in their next loop, within 1–2 s. */
  patchConfig(patch: Readonly<Record<string, unknown>>): Promise<void> {
    return patchConfig(this.#running(), patch, () => this.describeState());
  }

  /** Patroni takes the parameter out of a file that it did not write. */
  setReplayDelay(delayMs: number): Promise<void> {
    return this.patchConfig({ postgresql: { parameters: { recovery_min_apply_delay: `${delayMs}ms` } } });
  }

  /** On an address that no earlier member had; returns when it streams. */
  async addMember(name: string): Promise<MemberAddress> {
    const member = await this.defineMember(name);
    await this.start(name);
    return member;
  }

  /** Known to the harness, but not started. */
  async defineMember(name: string): Promise<MemberAddress> {
    if (this.#members.has(name)) throw new Error(`${name} exists already`);
    for (;;) {
      const host = memberAddress(this.#addressesUsed);
      this.#addressesUsed += 1;
      if (await areFree(host, [this.#site.apiPort, this.#site.port])) {
        this.#members.set(name, new Member(this.#site, name, host));
        return this.member(name);
      }
    }
  }

  /** A clean stop; its entry is taken out of etcd at once, where it would else stay until its ttl ends. */
  async removeMember(name: string): Promise<void> {
    await this.stop(name);
    await this.#etcd.deleteKey(`/service/${this.scope}/members/${name}`);
    await this.#member(name).removeFiles();
    this.#members.delete(name);
    const isGone = async () => {
      const document = await this.clusterDocument();
      return document !== undefined && document.members.every((member) => member.name !== name);
    };
    await this.#wait(`${name} gone from /cluster`, isGone, 10_000);
  }

  /** On that member itself, as superuser in the app database unless told. */
  sql(name: string, text: string, options: SqlOptions = {}): Promise<Row[]> {
    return runSql(this.member(name), text, { as: { ...SUPERUSER, database: APP.database }, ...options });
  }

  /** From the first member that answers; undefined when none does. */
  clusterDocument(): Promise<ClusterDocument | undefined> {
    return readClusterDocument(this.#running(), 5000);
  }

  /** Starts at once. `excluding` is the old leader's name; without it the present primary wins immediately. */
  watchFirstDirectWrite(options: { readonly excluding?: string; readonly timeoutMs?: number } = {}): Floor {
    const members = this.#all().filter((member) => member.name !== options.excluding);
    const explain = () => this.describeState();
    const { timeoutMs = FAILOVER_TIMEOUT_MS } = options;
    return watchFirstDirectWrite({ members, as: APP, timeoutMs, explain });
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#etcd.stop(), ...this.#all().map((member) => member.kill())]);
    await rm(this.#site.directory, { recursive: true, force: true });
  }

  #all(): Member[] {
    return [...this.#members.values()];
  }

  #running(): Member[] {
    return this.#all().filter((member) => member.isRunning());
  }

  #member(name: string): Member {
    const member = this.#members.get(name);
    if (member === undefined) throw new Error(`no member ${name}, only ${[...this.#members.keys()].join(', ')}`);
    return member;
  }

  #primary(timeoutMs: number): Promise<Member> {
    return this.#wait('a primary', () => findPrimary(this.#running()), timeoutMs);
  }

  async #portsRefuse(member: Member): Promise<void> {
    const { host } = member.address;
    const refuse = () =>
      Promise.all([refusesConnections(host, this.#site.apiPort), refusesConnections(host, this.#site.port)]);
    await this.#wait(`ports of ${member.name} refuse`, async () => (await refuse()).every(Boolean), 2000, [member]);
  }

  #wait<T>(
    what: string,
    ask: () => Promise<T | undefined | false>,
    timeoutMs: number,
    concerned?: readonly Member[],
  ): Promise<T> {
    return waitUntil(what, ask, { timeoutMs, explain: () => describeState(this.#all(), this.#etcd, concerned) });
  }

  async #withState(concerned: readonly Member[], act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const state = await describeState(this.#all(), this.#etcd, concerned);
      throw new Error(`${String(error)}\n${state}`, { cause: error });
    }
  }
}
