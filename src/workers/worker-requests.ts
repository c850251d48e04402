// Answers what workers request of the main process: fresh evidence, certificates, the session of a cancel request, and
// the branch of a client.
import type { ProxyDependencies } from '../proxy/options.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { WorkerProcess } from './worker-process.ts';
import { KeyPairs } from './key-pairs.ts';
import type { WorkerRequest } from './messages.ts';
import { withTimeout } from './with-timeout.ts';

export interface WorkerRequestsOptions extends Pick<
  ProxyDependencies,
  'freshen' | 'readKeyPair' | 'readAuthorities' | 'locateBranch' | 'clock'
> {
  /** Called before the reply, so that the workers have the new evidence by then. */
  readonly sendSnapshot: () => void;
  /** The workers that accept clients. */
  readonly workers: () => readonly WorkerProcess[];
}

type PassCancel = Extract<WorkerRequest, { kind: 'pass_cancel' }>;

/**
 * A worker must report within this time that it has the session, or it does not get the cancel request. Milliseconds.
 */
const FIND_MS = 200;

export class WorkerRequests {
  readonly #options: WorkerRequestsOptions;
  readonly #keyPairs: KeyPairs;

  constructor(options: WorkerRequestsOptions) {
    this.#options = options;
    this.#keyPairs = new KeyPairs(options.readKeyPair);
  }

  async answer(worker: WorkerProcess, request: WorkerRequest): Promise<void> {
    const { id } = request;
    switch (request.kind) {
      case 'freshen':
        await this.#options.freshen(request.pool, request.since);
        this.#options.sendSnapshot();
        return worker.send({ kind: 'fresh', id });
      case 'read_key_pair': {
        const reading = await this.#keyPairs.read(request.files, { mayBeOlder: !worker.hasBegun });
        return worker.send({ kind: 'key_pair', id, reading });
      }
      case 'read_authorities': {
        const reading = await this.#options.readAuthorities(request.file);
        return worker.send({ kind: 'authorities', id, reading });
      }
      case 'pass_cancel': {
        const outcome = await this.#passOn(worker, request);
        return worker.send({ kind: 'cancel_passed', id, outcome });
      }
      case 'locate_branch': {
        const { locateBranch = () => ({ kind: 'unknown' }) as const } = this.#options;
        const lookup = await locateBranch(request.target, request.access);
        return worker.send({ kind: 'branch_located', id, lookup });
      }
    }
  }

  /** First finds the worker that has the session, then passes the request on: a late reply must not send it twice. */
  async #passOn(sender: WorkerProcess, { packet, pool }: PassCancel): Promise<CancelOutcome> {
    const holder = await this.#holder(sender, packet);
    return holder === undefined
      ? { kind: 'unknown' }
      : { kind: 'done', problem: await holder.takeCancel(packet, pool) };
  }

  #holder(sender: WorkerProcess, packet: Uint8Array): Promise<WorkerProcess | undefined> {
    const { clock, workers } = this.#options;
    const others = workers().filter((other) => other !== sender);
    const found = Promise.withResolvers<WorkerProcess | undefined>();
    const ask = async (other: WorkerProcess): Promise<void> => {
      if (await other.knowsCancel(packet)) found.resolve(other);
    };
    void Promise.all(others.map(ask)).then(() => found.resolve(undefined));
    return withTimeout(clock, FIND_MS, found.promise);
  }
}
