// Owns the choice of how bytes are relayed, made once at the start: by direct pipes where the self-test passes, else by
// Node's streams. Reports the choice. The rest of the program knows this file of the direct path and no other.
import type { ProxyDependencies } from '../../options.ts';
import type { RelayMode } from '../../../model/policy.ts';
import { DirectPipe } from './direct-pipe.ts';
import { testDirectPipes, type OpenDirectPipe } from './self-test.ts';
import { NodeHandle, readOnce } from './node-handle.ts';
import { readBuffers } from './read-buffers.ts';
import { openStreamPipes, type OpenPipes } from '../stream-pipe.ts';
import { isTls } from '../../socket.ts';
import type { ReadFew } from '../../startup/tls-handshake.ts';
import { WriteBatch } from './write-batch.ts';

const FEW = new Uint8Array(1000);

export type RelayPipesOptions = Pick<ProxyDependencies, 'clock' | 'onEvent' | 'decideIfDue'>;

/** Opens direct pipes with a write batch of their own. */
export function directPipes(): OpenDirectPipe {
  const batch = new WriteBatch();
  return (source, sink) => {
    const from = NodeHandle.of(source);
    const to = sink === source ? from : NodeHandle.of(sink);
    return from === undefined || to === undefined ? undefined : new DirectPipe(from, to, batch);
  };
}

export class RelayPipes {
  readonly #options: RelayPipesOptions;
  /** One for each direction: queries have similar lengths, and so have answers. */
  readonly #queries: WriteBatch;
  readonly #answers = new WriteBatch();
  #isOn = false;

  constructor(options: RelayPipesOptions) {
    this.#options = options;
    // The process may have stood still since the bytes were read.
    this.#queries = new WriteBatch(options.decideIfDue);
  }

  /** To be called once, before the first session. Never rejects. */
  async choose(wanted: RelayMode): Promise<void> {
    const { clock, onEvent } = this.#options;
    const why = wanted === 'streams' ? 'relay is streams' : await testDirectPipes(directPipes(), clock);
    // Those of the self-test: an idle process keeps none.
    readBuffers.drop();
    this.#isOn = why === undefined;
    onEvent({ kind: 'relay_chosen', isOn: this.#isOn, why });
  }

  /** The self-test has passed: sockets may be plain. */
  isOn(): boolean {
    return this.#isOn;
  }

  /** All sockets have one buffer: the bytes are copied at once. */
  readonly readFew: ReadFew = (socket, onBytes) =>
    this.#isOn && readOnce(socket, FEW, (bytes) => onBytes(Uint8Array.from(bytes)));

  /** Only Node can decrypt the bytes of a TLS socket. */
  readonly openPipes: OpenPipes = (client, backend) => {
    if (!this.#isOn || isTls(client) || isTls(backend)) return openStreamPipes(client, backend);
    const [near, far] = [NodeHandle.of(client), NodeHandle.of(backend)];
    if (near === undefined || far === undefined) return openStreamPipes(client, backend);
    return {
      toBackend: new DirectPipe(near, far, this.#queries),
      toClient: new DirectPipe(far, near, this.#answers),
    };
  };
}
