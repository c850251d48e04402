// A manager's operations for tests of the API alone. The test sets the view and the end of every operation, each
// request is recorded, and a look at PostgreSQL can be made to hang.
import type { OperationOutcome, Operations } from '../../../../src/sandbox/manager/operation-outcomes.ts';
import type { ClusterView, JsonObject, MemberView } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPrimary, aPulse } from './views.ts';

export class FakeOperations implements Operations {
  member: MemberView;
  cluster: ClusterView | undefined = aCluster();
  outcome: OperationOutcome = { kind: 'done', text: 'done as told' };
  /** Requests with their arguments, in order; looks and reads are not recorded. */
  readonly asked: unknown[][] = [];
  looks = 0;
  #held: PromiseWithResolvers<void> | undefined;

  constructor(member: MemberView = aPrimary()) {
    this.member = member;
  }

  /** From now on a look hangs, as with a PostgreSQL that stands still. */
  hold(): void {
    this.#held = Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  pulse(): ReturnType<Operations['pulse']> {
    const { heartbeatAgeMs, role } = this.member;
    return Promise.resolve(aPulse({ heartbeatAgeMs, role, member: this.member }));
  }

  async look(): Promise<MemberView> {
    this.looks += 1;
    await this.#held?.promise;
    return this.member;
  }

  readCluster(): Promise<ClusterView | undefined> {
    return Promise.resolve(this.cluster);
  }

  patchConfig(changes: JsonObject): ReturnType<Operations['patchConfig']> {
    return this.#changeConfig('patchConfig', changes);
  }

  putConfig(config: JsonObject): ReturnType<Operations['putConfig']> {
    return this.#changeConfig('putConfig', config);
  }

  switchover(request: Parameters<Operations['switchover']>[0]): Promise<OperationOutcome> {
    return this.#end('switchover', request);
  }

  cancelSwitchover(): Promise<OperationOutcome> {
    return this.#end('cancelSwitchover');
  }

  failover(request: Parameters<Operations['failover']>[0]): Promise<OperationOutcome> {
    return this.#end('failover', request);
  }

  restart(conditions: Parameters<Operations['restart']>[0]): Promise<OperationOutcome> {
    return this.#end('restart', conditions);
  }

  scheduleRestart(...given: Parameters<Operations['scheduleRestart']>): Promise<OperationOutcome> {
    return this.#end('scheduleRestart', ...given);
  }

  cancelRestart(): Promise<OperationOutcome> {
    return this.#end('cancelRestart');
  }

  reload(): Promise<OperationOutcome> {
    return this.#end('reload');
  }

  reinitialize(options: Parameters<Operations['reinitialize']>[0]): Promise<OperationOutcome> {
    return this.#end('reinitialize', options);
  }

  #end(...call: unknown[]): Promise<OperationOutcome> {
    this.asked.push(call);
    return Promise.resolve(this.outcome);
  }

  #changeConfig(name: string, given: JsonObject): ReturnType<Operations['putConfig']> {
    this.asked.push([name, given]);
    const { kind, text } = this.outcome;
    if (kind === 'invalid' || kind === 'failed') return Promise.resolve({ kind, text });
    return Promise.resolve({ kind: 'done', config: { ttl: 5, ...given } });
  }
}
