// What workers ask of the main process, answered: fresh evidence, a certificate, and whose session a cancel request is about.
import type { Clock } from '../core/instant.ts';
import type { KeyPairFiles, KeyPairReading } from '../core/key-pair.ts';
import type { PoolName } from '../core/policy.ts';
import type { Handle } from './handle.ts';
import { KeyPairs } from './key-pairs.ts';
import type { WorkerQuestion } from './messages.ts';
import { within } from './within.ts';

export interface AnswersInputs {
  readonly clock: Clock;
  /** Undefined: it is fresh. */
  readonly freshen: (pool: PoolName) => Promise<void> | undefined;
  /** What it brought goes to the workers before the answer. */
  readonly sendSnapshot: () => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  /** Those that have sessions. */
  readonly workers: () => readonly Handle[];
}

/** Who does not say by then that it has the session does not have it. Milliseconds. */
const CANCEL_MS = 200;

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
        await this.#inputs.freshen(question.pool);
        this.#inputs.sendSnapshot();
        return worker.send({ kind: 'fresh', id });
      case 'read-key-pair': {
        const reading = await this.#keyPairs.read(question.files, { mayBeOlder: !worker.hasBegun });
        return worker.send({ kind: 'key-pair', id, reading });
      }
      case 'pass-cancel': {
        const isTaken = await this.#isTaken(worker, question);
        return worker.send({ kind: 'cancel-passed', id, isTaken });
      }
    }
  }

  async #isTaken(asking: Handle, { packet, pool }: Extract<WorkerQuestion, { kind: 'pass-cancel' }>): Promise<boolean> {
    const { clock, workers } = this.#inputs;
    const others = workers().filter((other) => other !== asking);
    const taken = Promise.withResolvers<boolean>();
    const ask = async (other: Handle): Promise<void> => {
      if (await other.takeCancel(packet, pool)) taken.resolve(true);
    };
    const all = Promise.all(others.map(ask)).then(() => false);
    return (await within(clock, CANCEL_MS, Promise.race([taken.promise, all]))) ?? false;
  }
}
