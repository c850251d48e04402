// A server of Node that listens on a port of a simulated machine.
import { Server, type ListenOptions, type ServerOpts } from 'node:net';
import type { ListenHandle } from './kernel-handle.ts';

export class SimulatedServer extends Server {
  readonly #handle: (port: number, isShared: boolean) => ListenHandle;

  constructor(options: ServerOpts, handle: (port: number, isShared: boolean) => ListenHandle) {
    super(options);
    this.#handle = handle;
  }

  override listen(...args: readonly unknown[]): this {
    const [options, listening] = args;
    const { port = 0, reusePort = false }: ListenOptions = Object(options);
    if (typeof listening === 'function') this.once('listening', () => Reflect.apply(listening, this, []));
    return super.listen(this.#handle(port, reusePort));
  }
}
