// The facts about one client connection that its events and the list of sessions report: the client, its names, its
// member, its times, and how it ended.
import type { BranchIdentity } from '../model/branch.ts';
import type { CloseReason } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import { addressText, type MemberName } from '../model/member.ts';
import { LOCAL_CLIENT } from '../model/unix-socket.ts';
import type { SessionActivity, SessionEntry, SessionTls } from '../reports/session-list.ts';
import type { Traffic } from '../reports/counts.ts';
import type { ClientFacts, EventOf } from '../reports/events.ts';
import type { ProxyDependencies } from './options.ts';
import type { Server } from './server.ts';
import { isLocal, isTls, type ProxySocket } from './socket.ts';
import type { SessionHandle } from './stage.ts';
import { NO_NAMES, type ClientNames } from './client-names.ts';

/** Node writes it before an IPv4 address of a socket for IPv6. */
const MAPPED = '::ffff:';

type Writable<Facts> = { -readonly [Name in keyof Facts]: Facts[Name] };

export class SessionRecord {
  readonly traffic: Traffic = { toBackendBytes: 0, toClientBytes: 0 };
  readonly #session: SessionHandle;
  #address: string;
  /** The load balancer that named the client. */
  #via: string | undefined;
  #isAccepted = false;
  readonly #options: Pick<ProxyDependencies, 'clock' | 'onEvent'>;
  readonly #acceptedAt: Instant;
  #stateSince: Instant;
  #names: ClientNames = NO_NAMES;
  #member: MemberName | undefined;
  #branch: BranchIdentity | undefined;
  #tls: SessionTls | undefined;
  #heldSince: Instant | undefined;
  #relayedSince: Instant | undefined;
  #ending: { readonly reason: CloseReason; readonly detail: string | undefined } | undefined;
  /** From then on its client lingers. */
  #endedAt: Instant = Infinity;

  constructor(session: SessionHandle, client: ProxySocket, options: Pick<ProxyDependencies, 'clock' | 'onEvent'>) {
    this.#session = session;
    // A listener for IPv4 and IPv6 shows an IPv4 client with this prefix; a load balancer names it without.
    const address = isLocal(client) ? LOCAL_CLIENT : client.remoteAddress;
    const isMapped = address?.startsWith(MAPPED) === true;
    this.#address = (isMapped ? address.slice(MAPPED.length) : address) ?? 'unknown';
    this.#options = options;
    this.#acceptedAt = options.clock.now();
    this.#stateSince = this.#acceptedAt;
  }

  /** The client's, without its port. */
  address(): string {
    return this.#address;
  }

  /** The load balancer `via` named a client at `address`. */
  forwarded(via: string, address: string): void {
    this.#via = via;
    this.#address = address;
  }

  /** Its address is known, or will not be. */
  accepted(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    const { id: session, pool, client } = this.#session;
    const event = { kind: 'client_accepted', pool, session, client } as const;
    this.#options.onEvent(this.#via === undefined ? event : { ...event, via: this.#via });
  }

  named(names: ClientNames): void {
    this.#names = names;
  }

  /** To be compared. Undefined: its startup could not be read. */
  database(): string | undefined {
    return this.#names.login.database;
  }

  /** The target is this branch. */
  found(branch: BranchIdentity): void {
    this.#branch = branch;
  }

  /** The start of its first wait for a route, over all its waits. It is now if this is the first one. */
  heldSince(): Instant {
    this.#heldSince ??= this.#options.clock.now();
    return this.#heldSince;
  }

  /** Until now, or until `instant`. */
  waitedMs(instant = this.#options.clock.now()): number {
    return this.#heldSince === undefined ? 0 : instant - this.#heldSince;
  }

  /** For a client that is refused now. */
  refusalFacts(): { readonly branch: string | undefined; readonly now: Instant; readonly waitedMs: number } {
    return { branch: this.#branch?.name, now: this.#options.clock.now(), waitedMs: this.waitedMs() };
  }

  stateChanged(): void {
    this.#stateSince = this.#options.clock.now();
  }

  entry(socket: ProxySocket, activity: SessionActivity | undefined): SessionEntry {
    const { login, application } = this.#names;
    const { id, pool, client, state, listener } = this.#session;
    const isWaitKnown = state !== 'closing' || this.#relayedSince === undefined;
    return {
      id,
      pool,
      member: this.#session.assignment()?.member,
      branch: this.#branch,
      client,
      via: this.#via,
      listener: addressText(listener),
      user: login.user,
      database: login.database,
      application,
      state,
      activity,
      tls: this.#tls ?? (isTls(socket) ? 'terminate' : undefined),
      acceptedAt: this.#acceptedAt,
      stateSince: this.#stateSince,
      heldMs: isWaitKnown ? this.waitedMs(this.#relayedSince) : undefined,
      ...this.traffic,
    };
  }

  /** The last member that it was connected to. */
  reached(member: MemberName): void {
    this.#member = member;
  }

  opened(server: Server, tls: SessionTls): void {
    this.#relayedSince = this.#options.clock.now();
    if ('member' in server) this.reached(server.member);
    this.#tls = tls;
    const { id: session, pool, client } = this.#session;
    const event: Writable<EventOf<'session_opened'>> = {
      kind: 'session_opened',
      pool,
      session,
      client,
      member: this.#member,
    };
    this.#addFacts(event);
    this.#options.onEvent(event);
  }

  /** The reason of the close message. It stays the reason, whatever happens while the client lingers. */
  closing(reason: CloseReason, detail: string | undefined): void {
    this.#ending ??= { reason, detail };
    this.lost();
  }

  /** Its server has ended it, or its last message is sent. */
  lost(): void {
    this.#endedAt = Math.min(this.#endedAt, this.#options.clock.now());
  }

  closed(reason: CloseReason, detail: string | undefined): void {
    const { clock, onEvent } = this.#options;
    const now = clock.now();
    this.accepted();
    const lingeredMs = now - Math.min(now, this.#endedAt);
    // A fault of Pointsman itself counts, whatever the session was ending for.
    const ending = (reason === 'internal_error' ? undefined : this.#ending) ?? { reason, detail };
    const waitedMs = ending.reason === 'backend_refused' ? this.waitedMs(this.#relayedSince) : 0;
    const { id: session, pool, client } = this.#session;
    const event: Writable<EventOf<'session_closed'>> = {
      kind: 'session_closed',
      pool,
      session,
      client,
      member: this.#member,
      reason: ending.reason,
      detail: ending.detail,
      durationMs: now - this.#acceptedAt,
      toBackendBytes: this.traffic.toBackendBytes,
      toClientBytes: this.traffic.toClientBytes,
    };
    if (waitedMs > 0) event.waitedMs = waitedMs;
    if (lingeredMs > 0) event.lingeredMs = lingeredMs;
    this.#addFacts(event);
    onEvent(event);
  }

  /** Adds what is known. Assignments are cheaper than a spread for each fact, and every session has two such events. */
  #addFacts(event: Writable<ClientFacts>): void {
    const { user, database } = this.#names.login;
    const { application } = this.#names;
    if (this.#via !== undefined) event.via = this.#via;
    if (user !== undefined) event.user = user;
    if (database !== undefined) event.database = database;
    if (application !== undefined) event.application = application;
    if (this.#tls !== undefined) event.tls = this.#tls;
    if (this.#branch !== undefined) event.branch = this.#branch;
  }
}
