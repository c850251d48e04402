// What workers ask of the main process, answered: fresh evidence, a certificate, and whose session a cancel request is about.
import type { Clock, Instant } from '../model/instant.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { PoolName } from '../model/policy.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { Handle } from './worker-process.ts';
import { KeyPairs } from './key-pairs.ts';
import type { WorkerQuestion } from './messages.ts';
import { within } from './with-timeout.ts';

export interface AnswersInputs {
  readonly clock: Clock;
  /** Undefined: it is fresh. */
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  /** What it brought goes to the workers before the answer. */
  readonly sendSnapshot: () => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  /** Those that have sessions. */
  readonly workers: () => readonly Handle[];
}

type PassCancel = Extract<WorkerQuestion, { kind: 'pass_cancel' }>;

/** A worker that does not say by then that it has the session is not asked to pass the request on. Milliseconds. */
const FIND_MS = 200;

export class Answers {
  readonly #inputs: AnswersInputs;
  readonly #keyPairs: KeyPairs;

  constructor(inputs: AnswersInputs) {
    this.#inputs = inputs;
    this.#keyPairs = new KeyPairs(inputs.readKeyPair);
  }

  async answer(worker: Handle, question: WorkerQuestion): Promise<void> {
    const { id } = question;
    switch (question.kind) {
      case 'freshen':
        await this.#inputs.freshen(question.pool, question.since);
        this.#inputs.sendSnapshot();
        return worker.send({ kind: 'fresh', id });
      case 'read_key_pair': {
        const reading = await this.#keyPairs.read(question.files, { mayBeOlder: !worker.hasBegun });
        return worker.send({ kind: 'key_pair', id, reading });
      }
      case 'pass_cancel': {
        const outcome = await this.#passOn(worker, question);
        return worker.send({ kind: 'cancel_passed', id, outcome });
      }
    }
  }

  /**
   * The worker that has the session is found first and told then: one that answers late must not send it a second time.
   */
  async #passOn(asking: Handle, { packet, pool }: PassCancel): Promise<CancelOutcome> {
    const holder = await this.#holder(asking, packet);
    return holder === undefined
      ? { kind: 'unknown' }
      : { kind: 'done', problem: await holder.takeCancel(packet, pool) };
  }

  #holder(asking: Handle, packet: Uint8Array): Promise<Handle | undefined> {
    const { clock, workers } = this.#inputs;
    const others = workers().filter((other) => other !== asking);
    const found = Promise.withResolvers<Handle | undefined>();
    const ask = async (other: Handle): Promise<void> => {
      if (await other.knowsCancel(packet)) found.resolve(other);
    };
    void Promise.all(others.map(ask)).then(() => found.resolve(undefined));
    return within(clock, FIND_MS, found.promise);
  }
}
