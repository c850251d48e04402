// Owns the mover of a proxy, whose code is loaded when moves are configured: at the start, or at a reload.
import type { MovesPolicy } from '../../model/moves.ts';
import type { Server } from '../server.ts';
import type { StartupHandOver } from '../startup/client-startup.ts';
import type { Mover, MoverOptions } from './mover.ts';
import type { MoveParts } from './move-parts.ts';
import type { SessionMover } from './session-mover.ts';
import type { Spreader, SpreaderOptions } from './spreader.ts';

/** A session that begins. */
export interface Adoption extends Omit<MoveParts, 'mover' | 'packet'> {
  readonly server: Server;
  readonly handedOver: StartupHandOver;
}

export class LoadedMover {
  readonly #options: MoverOptions & SpreaderOptions;
  #loaded: { readonly mover: Mover; readonly session: typeof SessionMover; readonly spreader: Spreader } | undefined;

  constructor(options: MoverOptions & SpreaderOptions) {
    this.#options = options;
  }

  /** To be awaited before `policy` is in force. */
  async load(policy: MovesPolicy | undefined): Promise<void> {
    if (policy === undefined || this.#loaded !== undefined) return;
    const [{ Mover: OneMover }, { SessionMover: OneSession }, { Spreader: OneSpreader }] = await Promise.all([
      import('./mover.ts'),
      import('./session-mover.ts'),
      import('./spreader.ts'),
    ]);
    this.#loaded ??= {
      mover: new OneMover(this.#options),
      session: OneSession,
      spreader: new OneSpreader(this.#options),
    };
  }

  /** Undefined: the session never moves. */
  adopt({ server, handedOver, session, client, conversation, record }: Adoption): SessionMover | undefined {
    const { packet, isReadable } = handedOver;
    const isConfigured = this.#options.policy() !== undefined;
    if (!isConfigured || !isReadable || packet === undefined || 'branch' in server) return undefined;
    if (this.#loaded === undefined) return undefined;
    const { mover, session: OneSession } = this.#loaded;
    return new OneSession({ session, client, conversation, record, packet, mover });
  }

  tableChanged(): void {
    this.#loaded?.mover.tableChanged();
    this.#loaded?.spreader.review();
  }

  stop(): void {
    this.#loaded?.mover.stop();
    this.#loaded?.spreader.stop();
  }

  /** Undefined: moves were never configured. */
  get(): Mover | undefined {
    return this.#loaded?.mover;
  }
}
