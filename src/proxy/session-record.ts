// What is told of one client connection, gathered while it lives: who it was, where it went, how it ended, once.
import type { Socket } from 'node:net';
import type { CloseReason } from '../model/close-reason.ts';
import type { Login, ProxyEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Traffic } from './relay/directions.ts';
import { peerText } from './socket.ts';

export interface RecordInputs {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
}

export class SessionRecord {
  readonly traffic: Traffic = { toBackendBytes: 0, toClientBytes: 0 };
  readonly #session: number;
  readonly #client: string;
  readonly #address: string;
  readonly #tellers: RecordInputs;
  readonly #acceptedAt: Instant;
  #login: Login = {};
  #member: MemberName | undefined;
  #heldSince: Instant | undefined;
  #verdict: { readonly reason: CloseReason; readonly detail: string | undefined } | undefined;

  constructor(session: number, client: Socket, tellers: RecordInputs) {
    this.#session = session;
    this.#client = peerText(client);
    this.#address = client.remoteAddress ?? 'unknown';
    this.#tellers = tellers;
    this.#acceptedAt = tellers.clock.now();
  }

  /** The client's, without its port. */
  address(): string {
    return this.#address;
  }

  accepted(pool: PoolName): void {
    this.#tellers.onEvent({ kind: 'client_accepted', pool, session: this.#session, client: this.#client });
  }

  loggedIn(login: Login): void {
    this.#login = login;
  }

  /** When it first began to wait for a route, or lost a member on its way there, over all its waits: now, if it did not yet. */
  heldSince(): Instant {
    this.#heldSince ??= this.#tellers.clock.now();
    return this.#heldSince;
  }

  waitedMs(): number {
    return this.#heldSince === undefined ? 0 : this.#tellers.clock.now() - this.#heldSince;
  }

  /** The last member it had to do with. */
  reached(member: MemberName): void {
    this.#member = member;
  }

  opened(pool: PoolName, member: MemberName): void {
    this.reached(member);
    this.#tellers.onEvent({ kind: 'session_opened', ...this.#who(pool), member });
  }

  /** Why it is told to go: what happens while it lingers changes nothing. */
  closing(reason: CloseReason, detail: string | undefined): void {
    this.#verdict ??= { reason, detail };
  }

  closed(pool: PoolName, reason: CloseReason, detail: string | undefined): void {
    const { clock, onEvent } = this.#tellers;
    onEvent({
      kind: 'session_closed',
      ...this.#who(pool),
      member: this.#member,
      ...(this.#verdict ?? { reason, detail }),
      durationMs: clock.now() - this.#acceptedAt,
      ...this.traffic,
    });
  }

  #who(pool: PoolName) {
    return { pool, session: this.#session, client: this.#client, ...this.#login };
  }
}
