// How bytes are relayed, chosen once: past Node's streams where that has proven to work, else through them. Tells what came of it.
import type { ProxyEvent } from '../../../reports/events.ts';
import type { Clock } from '../../../model/instant.ts';
import type { RelayMode } from '../../../model/policy.ts';
import { DirectPipe } from './direct-pipe.ts';
import { testDirectPipes } from './self-test.ts';
import type { OpenDirectPipe } from './self-test.ts';
import { NodeHandle } from './node-handle.ts';
import { openStreamPipes } from '../stream-pipe.ts';
import type { OpenPipes } from '../stream-pipe.ts';
import { isTls } from '../../socket.ts';
import { WriteBatch } from './write-batch.ts';

export interface RelayPipesInputs {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
  /** Called before anything that clients said is forwarded; it may end sessions. */
  readonly judge: () => void;
}

/** A pipe of its own, with writes of its own. */
export function directPipes(): OpenDirectPipe {
  const batch = new WriteBatch();
  return (source, sink) => {
    const from = NodeHandle.of(source);
    const to = sink === source ? from : NodeHandle.of(sink);
    return from === undefined || to === undefined ? undefined : new DirectPipe(from, to, batch);
  };
}

export class RelayPipes {
  readonly #inputs: RelayPipesInputs;
  /** One a direction: questions are as long as each other, and so are answers. */
  readonly #questions: WriteBatch;
  readonly #answers = new WriteBatch();
  #isOn = false;

  constructor(inputs: RelayPipesInputs) {
    this.#inputs = inputs;
    // The process may have stood still since they were read.
    this.#questions = new WriteBatch(inputs.judge);
  }

  /** Never rejects. */
  async choose(wanted: RelayMode): Promise<void> {
    const { clock, onEvent } = this.#inputs;
    const why = wanted === 'streams' ? 'relay is streams' : await testDirectPipes(directPipes(), clock);
    this.#isOn = why === undefined;
    onEvent({ kind: 'relay_chosen', isOn: this.#isOn, why });
  }

  /** What is said in TLS is known to Node alone. */
  readonly openPipes: OpenPipes = (client, backend) => {
    if (!this.#isOn || isTls(client)) return openStreamPipes(client, backend);
    const [near, far] = [NodeHandle.of(client), NodeHandle.of(backend)];
    if (near === undefined || far === undefined) return openStreamPipes(client, backend);
    return {
      toBackend: new DirectPipe(near, far, this.#questions),
      toClient: new DirectPipe(far, near, this.#answers),
    };
  };
}
