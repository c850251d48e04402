// How clients are read, chosen once: into buffers of ours where that has proven to work, else by Node. Tells what came of it.
import type { ProxyEvent } from '../core/events.ts';
import type { Clock } from '../core/instant.ts';
import type { ClientPolicy } from '../core/policy.ts';
import { readAccepted } from './accepted-reads.ts';
import { proveReads } from './reads-proof.ts';
import type { ReadInto } from './reads-proof.ts';

export interface ClientReadsInputs {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
}

export class ClientReads {
  readonly #inputs: ClientReadsInputs;
  #isDirect = false;

  constructor(inputs: ClientReadsInputs) {
    this.#inputs = inputs;
  }

  /** Never rejects. */
  async choose(wanted: ClientPolicy['directReads']): Promise<void> {
    const { clock, onEvent } = this.#inputs;
    const why = wanted === 'off' ? 'direct_reads is off' : await proveReads(readAccepted, clock);
    this.#isDirect = why === undefined;
    onEvent({ kind: 'reads-chosen', isDirect: this.#isDirect, why });
  }

  readonly into: ReadInto = (socket, inflow) => this.#isDirect && readAccepted(socket, inflow);
}
