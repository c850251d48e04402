// The live sessions of each worker, from the events that it reports. When a worker dies, this is the only record of its
// sessions.
import type { ClientFacts, EventOf, ProxyEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

interface Live {
  readonly client: string;
  readonly acceptedAt: Instant;
  pool: PoolName;
  member: MemberName | undefined;
  facts: ClientFacts;
  /** Undefined: it does not wait for a route. */
  heldSince: Instant | undefined;
}

export class LiveSessions {
  readonly #byWorker = new Map<number, Map<number, Live>>();

  record(worker: number, event: ProxyEvent, now: Instant): void {
    if (!('session' in event)) return;
    if (event.kind === 'client_accepted') return this.#add(worker, event, now);
    const live = this.#byWorker.get(worker)?.get(event.session);
    if (live === undefined) return;
    live.pool = event.pool;
    if (event.kind === 'session_closed') this.#byWorker.get(worker)?.delete(event.session);
    // A client that waits for a route has no server, whatever it tried before.
    else if (event.kind === 'hold_started') Object.assign(live, { member: undefined, heldSince: now });
    else if (event.kind === 'hold_ended') live.heldSince = undefined;
    else if (event.kind === 'dial_finished' && event.outcome === 'connected') live.member = event.member;
    else if (event.kind === 'session_moved') live.member = event.to;
    else if (event.kind === 'session_opened') opened(live, event);
  }

  /** The worker has ended. Returns how each of its sessions ended, and the waits of its clients. */
  remove(worker: number, detail: string, now: Instant): readonly ProxyEvent[] {
    const lives = [...(this.#byWorker.get(worker) ?? [])];
    this.#byWorker.delete(worker);
    return lives.flatMap(([session, { client, acceptedAt, pool, member, facts, heldSince }]): readonly ProxyEvent[] => [
      ...(heldSince === undefined
        ? []
        : [{ kind: 'hold_ended', pool, session, outcome: 'refused', waitedMs: now - heldSince } as const]),
      {
        kind: 'session_closed',
        ...facts,
        pool,
        session,
        client,
        member,
        reason: 'worker_died',
        detail,
        durationMs: now - acceptedAt,
        // Unknown for one session. The pool's totals have them up to the worker's last report.
        toBackendBytes: 0,
        toClientBytes: 0,
      },
    ]);
  }

  #add(worker: number, { session, pool, client, via }: EventOf<'client_accepted'>, now: Instant): void {
    const sessions = this.#byWorker.get(worker) ?? new Map<number, Live>();
    const live: Live = {
      client,
      pool,
      member: undefined,
      facts: via === undefined ? {} : { via },
      acceptedAt: now,
      heldSince: undefined,
    };
    this.#byWorker.set(worker, sessions.set(session, live));
  }
}

function opened(live: Live, event: EventOf<'session_opened'>): void {
  const { kind: _, pool: __, session: ___, client: ____, member, ...facts } = event;
  Object.assign(live, { member, facts });
}
