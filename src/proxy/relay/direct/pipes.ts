// How bytes are relayed, chosen once: past Node's streams where that has proven to work, else through them. Tells what came of it.
import type { ProxyEvent } from '../../../reports/events.ts';
import type { Clock } from '../../../model/instant.ts';
import type { ClientPolicy } from '../../../model/policy.ts';
import { DirectLane } from './direct-pipe.ts';
import { proveDirectIo } from './self-test.ts';
import type { OpenDirectLane } from './self-test.ts';
import { DirectSocket } from './node-handle.ts';
import { openStreamLanes } from '../stream-pipe.ts';
import type { OpenLanes } from '../stream-pipe.ts';
import { isTls } from '../../socket.ts';
import { WriteTurn } from './write-batch.ts';

export interface DirectIoInputs {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
  /** Called before anything that clients said is forwarded; it may end sessions. */
  readonly judge: () => void;
}

/** A lane of its own, with writes of its own. */
export function directLanes(): OpenDirectLane {
  const turn = new WriteTurn();
  return (source, sink) => {
    const from = DirectSocket.of(source);
    const to = sink === source ? from : DirectSocket.of(sink);
    return from === undefined || to === undefined ? undefined : new DirectLane(from, to, turn);
  };
}

export class DirectIo {
  readonly #inputs: DirectIoInputs;
  /** One a direction: questions are as long as each other, and so are answers. */
  readonly #questions: WriteTurn;
  readonly #answers = new WriteTurn();
  #isOn = false;

  constructor(inputs: DirectIoInputs) {
    this.#inputs = inputs;
    // The process may have stood still since they were read.
    this.#questions = new WriteTurn(inputs.judge);
  }

  /** Never rejects. */
  async choose(wanted: ClientPolicy['directIo']): Promise<void> {
    const { clock, onEvent } = this.#inputs;
    const why = wanted === 'off' ? 'direct_io is off' : await proveDirectIo(directLanes(), clock);
    this.#isOn = why === undefined;
    onEvent({ kind: 'direct_io_chosen', isOn: this.#isOn, why });
  }

  /** What is said in TLS is known to Node alone. */
  readonly openLanes: OpenLanes = (client, backend) => {
    if (!this.#isOn || isTls(client)) return openStreamLanes(client, backend);
    const [near, far] = [DirectSocket.of(client), DirectSocket.of(backend)];
    if (near === undefined || far === undefined) return openStreamLanes(client, backend);
    return {
      toBackend: new DirectLane(near, far, this.#questions),
      toClient: new DirectLane(far, near, this.#answers),
    };
  };
}
