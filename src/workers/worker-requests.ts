// Answers what workers request of the main process: fresh evidence, certificates, the session of a cancel request, and
// the branch of a client.
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { ProxyDependencies } from '../proxy/options.ts';
import type { CancelOutcome } from '../proxy/siblings.ts';
import type { WorkerProcess } from './worker-process.ts';
import { answerCall, type CallHandlers, type CallMessage } from './calls.ts';
import type { CallsOfWorker, CancelPacket } from './messages.ts';
import { withTimeout } from '../model/with-timeout.ts';

export interface WorkerRequestsOptions extends Pick<
  ProxyDependencies,
  'freshen' | 'readKeyPair' | 'readPem' | 'locateBranch' | 'clock'
> {
  /** Called before the reply, so that the workers have the new evidence by then. */
  readonly sendSnapshot: () => void;
  /** The workers that accept clients. */
  readonly workers: () => readonly WorkerProcess[];
}

/**
 * A worker must report within this time that it has the session, or it does not get the cancel request. Milliseconds.
 */
const FIND_MS = 200;

export class WorkerRequests {
  readonly #options: WorkerRequestsOptions;
  /** The last good certificate. */
  #keyPair: { readonly files: KeyPairFiles; readonly reading: KeyPairReading } | undefined;

  constructor(options: WorkerRequestsOptions) {
    this.#options = options;
  }

  answer(worker: WorkerProcess, call: CallMessage<CallsOfWorker>): Promise<void> {
    const { freshen, sendSnapshot, readPem, locateBranch = () => ({ kind: 'unknown' }) } = this.#options;
    const handlers: CallHandlers<CallsOfWorker> = {
      freshen: async ({ pool, since }) => {
        await freshen(pool, since);
        sendSnapshot();
        return undefined;
      },
      read_key_pair: (files) => this.#readKeyPair(files, !worker.hasBegun),
      read_pem: ({ file, kind }) => readPem(file, kind),
      pass_cancel: (request) => this.#passOn(worker, request),
      find_cancel: async (packet) => (await this.#holder(worker, packet)) !== undefined,
      locate_branch: ({ target, access }) => locateBranch(target, access),
    };
    return answerCall(handlers, call, (reply) => worker.send(reply));
  }

  /** A worker that starts while the files are unusable gets the certificate that the other workers have. */
  async #readKeyPair(files: KeyPairFiles, isStarting: boolean): Promise<KeyPairReading> {
    const reading = await this.#options.readKeyPair(files);
    const last = this.#keyPair;
    if (reading.kind === 'pair') this.#keyPair = { files, reading };
    else if (isStarting && last?.files.cert === files.cert && last.files.key === files.key) return last.reading;
    return reading;
  }

  /** First finds the worker that has the session, then passes the request on: a late reply must not send it twice. */
  async #passOn(sender: WorkerProcess, request: CancelPacket): Promise<CancelOutcome> {
    const holder = await this.#holder(sender, request.packet);
    if (holder === undefined) return { kind: 'unknown' };
    return { kind: 'done', problem: await holder.call('take_cancel', request, 'the worker of its session ended') };
  }

  #holder(sender: WorkerProcess, packet: Uint8Array): Promise<WorkerProcess | undefined> {
    const { clock, workers } = this.#options;
    const others = workers().filter((other) => other !== sender);
    const found = Promise.withResolvers<WorkerProcess | undefined>();
    const ask = async (other: WorkerProcess): Promise<void> => {
      if (await other.call('find_cancel', packet, false)) found.resolve(other);
    };
    void Promise.all(others.map(ask)).then(() => found.resolve(undefined));
    return withTimeout(clock, FIND_MS, found.promise);
  }
}
