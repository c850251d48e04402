// A manager's operations for tests of the API alone. The test sets the view and the end of every operation, each
// request is recorded, and a look at PostgreSQL can be made to hang.
import type { ManagerOutcome, ManagerOperations } from '../../../../src/sandbox/manager/operation-outcomes.ts';
import type { ClusterView, JsonObject, MemberView } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPrimary } from './views.ts';

export class FakeOperations implements ManagerOperations {
  member: MemberView;
  cluster: ClusterView | undefined = aCluster();
  outcome: ManagerOutcome = { kind: 'done', text: 'done as told' };
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

  pulse(): MemberView {
    return this.member;
  }

  async look(): Promise<MemberView> {
    this.looks += 1;
    await this.#held?.promise;
    return this.member;
  }

  readCluster(): ClusterView | undefined {
    return this.cluster;
  }

  patchConfig(changes: JsonObject): ReturnType<ManagerOperations['patchConfig']> {
    return this.#changeConfig('patchConfig', changes);
  }

  putConfig(config: JsonObject): ReturnType<ManagerOperations['putConfig']> {
    return this.#changeConfig('putConfig', config);
  }

  switchover(request: Parameters<ManagerOperations['switchover']>[0]): Promise<ManagerOutcome> {
    return this.#end('switchover', request);
  }

  cancelSwitchover(): ManagerOutcome {
    return this.#note('cancelSwitchover');
  }

  failover(request: Parameters<ManagerOperations['failover']>[0]): Promise<ManagerOutcome> {
    return this.#end('failover', request);
  }

  restart(conditions: Parameters<ManagerOperations['restart']>[0]): Promise<ManagerOutcome> {
    return this.#end('restart', conditions);
  }

  scheduleRestart(...given: Parameters<ManagerOperations['scheduleRestart']>): Promise<ManagerOutcome> {
    return this.#end('scheduleRestart', ...given);
  }

  cancelRestart(): ManagerOutcome {
    return this.#note('cancelRestart');
  }

  reload(): Promise<ManagerOutcome> {
    return this.#end('reload');
  }

  reinitialize(options: Parameters<ManagerOperations['reinitialize']>[0]): Promise<ManagerOutcome> {
    return this.#end('reinitialize', options);
  }

  #end(...call: unknown[]): Promise<ManagerOutcome> {
    return Promise.resolve(this.#note(...call));
  }

  #note(...call: unknown[]): ManagerOutcome {
    this.asked.push(call);
    return this.outcome;
  }

  #changeConfig(name: string, given: JsonObject): ReturnType<ManagerOperations['putConfig']> {
    this.asked.push([name, given]);
    const { kind, text } = this.outcome;
    if (kind === 'invalid' || kind === 'failed') return { kind, text };
    return { kind: 'done', config: { ttl: 5, ...given } };
  }
}
