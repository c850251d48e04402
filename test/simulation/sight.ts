// One history, as the table of situations asks about it.
import type { ReportedEvent } from '../../src/reports/events.ts';
import type { ClientMischief, ClientRollback } from './clients/client-account.ts';
import type { FaultKind } from './scene/plan.ts';
import { START_MS, type Scene, type TimedEvent } from './scene/scene.ts';

type Kind = ReportedEvent['kind'];
type Of<One extends Kind> = Extract<ReportedEvent, { readonly kind: One }>;
type Stage = 'held' | 'relayed' | 'parked' | 'unknown';

export class Sight {
  readonly scene: Scene;
  readonly #byKind: ReadonlyMap<Kind, Scene['events']>;

  constructor(scene: Scene) {
    this.scene = scene;
    this.#byKind = Map.groupBy(scene.events, ({ event }) => event.kind);
  }

  has<One extends Kind>(kind: One, test: (event: Of<One>) => boolean = () => true): boolean {
    return this.all(kind).some(({ event }) => test(event));
  }

  all<One extends Kind>(kind: One): readonly (Pick<TimedEvent, 'at' | 'run'> & { readonly event: Of<One> })[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind decides the type
    return (this.#byKind.get(kind) ?? []) as never;
  }

  ended(reason: string): boolean {
    return this.has('session_closed', (event) => event.reason === reason);
  }

  told(code: string): boolean {
    return this.scene.clients.some(({ account }) => account.sessions.some(({ ending }) => ending === code));
  }

  canceled(end: string): boolean {
    return this.scene.clients.some(({ account }) => account.cancels.includes(end));
  }

  during(kind: FaultKind, test: (event: ReportedEvent) => boolean): boolean {
    const { plan, events } = this.scene;
    const faults = plan.faults.filter((fault) => fault.kind === kind);
    return events.some(({ at, event }) => {
      const since = at - START_MS;
      return test(event) && faults.some(({ atMs, forMs }) => since >= atMs && since <= atMs + forMs);
    });
  }

  /** One Pointsman has another primary than the other one has. */
  isDisputed(): boolean {
    const primaries = new Map<number, string | undefined>();
    return this.all('route_changed').some(({ run, event: { pool, to } }) => {
      if (pool !== 'write') return false;
      primaries.set(this.#siteOf(run), to.kind === 'open' ? to.targets[0].member : undefined);
      return new Set([...primaries.values()].filter((member) => member !== undefined)).size > 1;
    });
  }

  /** While clients of another Pointsman are served. */
  besideAnother<One extends Kind>(kind: One, test: (event: Of<One>) => boolean, state: 'hold' | 'open'): boolean {
    return this.all(kind).some(
      ({ at, run, event }) =>
        test(event) && this.scene.sites.some((_, site) => this.#isElsewhere(run, site, at, state)),
    );
  }

  /** Both change the primary at one time. */
  areTwoOperating(): boolean {
    return this.all('operation_started').some(({ at, run }) =>
      this.all('operation_started').some(
        (other) =>
          this.#siteOf(other.run) !== this.#siteOf(run) &&
          other.at >= at &&
          !this.all('operation_ended').some((end) => end.run === run && end.at > at && end.at < other.at),
      ),
    );
  }

  /** A client was accepted on both sites. */
  goesToBoth(): boolean {
    const sites = Map.groupBy(this.all('client_accepted'), ({ event }) => event.client.split(':')[0]);
    return [...sites.values()].some((accepted) => new Set(accepted.map(({ run }) => this.#siteOf(run))).size > 1);
  }

  /** A session is parked behind a transaction that was rolled back for that. */
  isRolledBack(test: (event: Of<'session_parked'>) => boolean): boolean {
    return this.has('session_parked', (event) => event.hasAborted === true && test(event));
  }

  readsRollback(request: ClientRollback['request']): boolean {
    return this.scene.clients.some(({ account }) => account.rollbacks.some((one) => one.request === request));
  }

  /** The first request of the client behind such a rollback is ROLLBACK: it reads no error. */
  rollsBackItself(): boolean {
    return this.#moves().some(
      ({ parked, movedAt, account }) =>
        parked.event.hasAborted === true &&
        !account.rollbacks.some(({ request, at }) => ['a statement', 'COMMIT'].includes(request) && at >= parked.at) &&
        account.sessions.some(({ startedAt, endedAt = Infinity }) => startedAt < parked.at && endedAt > movedAt),
    );
  }

  movesInFailed(): boolean {
    return this.#moves().some(({ parked, movedAt, account }) =>
      account.failures.some(({ from, to }) => from < parked.at && to > movedAt),
    );
  }

  /** Each session that was parked and went on, with its client. */
  #moves() {
    return this.all('session_moved').flatMap(({ at: movedAt, run, event: { session } }) => {
      const isOf = (one: { readonly run: number; readonly event: { readonly session: number } }): boolean =>
        one.run === run && one.event.session === session;
      const parked = this.all('session_parked').findLast((one) => isOf(one) && one.at <= movedAt);
      const accepted = this.all('client_accepted').find(isOf);
      const client = this.scene.clients.find(({ address }) => accepted?.event.client.split(':')[0] === address);
      return parked === undefined || client === undefined ? [] : [{ parked, movedAt, account: client.account }];
    });
  }

  /** The stage of the client's session then, as Pointsman had it. */
  does(
    what: ClientMischief['what'],
    test: (of: { readonly stage: Stage; readonly isInTransaction: boolean }) => boolean,
  ) {
    return this.scene.clients.some(({ account, address }) =>
      account.mischief.some((did) => {
        const { isInTransaction } = did;
        return did.what === what && test({ stage: this.#stageAt(address, did.at), isInTransaction });
      }),
    );
  }

  #stageAt(address: string, at: number): Stage {
    const accepted = this.all('client_accepted').findLast(
      (one) => one.at <= at && one.event.client.split(':')[0] === address,
    );
    if (accepted === undefined) return 'unknown';
    const { run, event } = accepted;
    const isOf = (other: { readonly run: number; readonly event: { readonly session: number } }): boolean =>
      other.run === run && other.event.session === event.session;
    if (this.isParkedAt(run, event.session, at)) return 'parked';
    const holds = this.all('hold_started').filter((one) => isOf(one) && one.at <= at);
    const ends = this.all('hold_ended').filter((one) => isOf(one) && one.at <= at);
    return holds.length > ends.length ? 'held' : 'relayed';
  }

  #siteOf(run: number): number {
    const host = this.scene.pointsmen[run]?.host;
    return this.scene.sites.findIndex((site) => site.host === host);
  }

  /** Another site than that of the run. */
  #isElsewhere(run: number, site: number, at: number, state: 'hold' | 'open'): boolean {
    if (this.#siteOf(run) === site) return false;
    const last = this.all('route_changed').findLast(
      (one) => one.at <= at && one.event.pool === 'write' && this.#siteOf(one.run) === site,
    );
    return last?.event.to.kind === state;
  }

  /** A session is parked, and its next primary is lost before it goes on. */
  isParkedAgain(): boolean {
    return this.all('session_parked').some(({ at, run, event }) =>
      this.all('route_changed').some(
        (route) =>
          route.run === run &&
          route.at > at &&
          route.event.pool === 'write' &&
          route.event.to.kind === 'hold' &&
          this.isParkedAt(run, event.session, route.at),
      ),
    );
  }

  isParkedAt(run: number, session: number, at: number): boolean {
    const parked = this.all('session_parked')
      .filter((one) => one.run === run && one.event.session === session && one.at < at)
      .at(-1);
    if (parked === undefined) return false;
    const over = [...this.all('session_moved'), ...this.all('session_closed')].filter(
      (one) => one.run === run && one.event.session === session && one.at > parked.at,
    );
    return over.every((one) => one.at > at);
  }
}
