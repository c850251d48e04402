// Gives each client with a branch as its target its way there. No branch has a connection without a client.
import type { ProxyDependencies, BranchRouting } from '../options.ts';
import type { LocateBranch } from '../../model/branch.ts';
import type { DialServer } from '../server.ts';
import { BranchRoute, type BranchRequest } from './branch-route.ts';

export interface BranchConnectorInputs extends Pick<ProxyDependencies, 'locateBranch' | 'clock' | 'onEvent'> {
  readonly dial: DialServer;
  readonly isStopping: () => boolean;
  readonly routing: () => BranchRouting | undefined;
}

const NOT_CONFIGURED: LocateBranch = () => ({ kind: 'unknown' });

export class BranchConnector {
  readonly #inputs: BranchConnectorInputs;

  constructor(inputs: BranchConnectorInputs) {
    this.#inputs = inputs;
  }

  /** The client hears of the outcome, possibly at once. It leaves by leaving its state. */
  connect(request: BranchRequest): void {
    const { locateBranch = NOT_CONFIGURED, routing } = this.#inputs;
    const limits = routing()?.connect;
    if (limits === undefined) return request.onRefused('unknown_branch', request.unknown);
    return new BranchRoute({ ...this.#inputs, ...request, locate: locateBranch, limits }).locate();
  }
}
