// The door of a simulated server: takes connections, reads the first message of each, and says which process gets it.
import type { Socket } from 'node:net';
import { errorOf } from '../../support/sockets/messages.ts';
import type { Random } from '../world/random.ts';
import type { Host } from '../world/world.ts';
import { Fields, Frames } from './messages.ts';
import type { Program } from './program.ts';

/** A first message that has been read. */
export interface Admission {
  readonly kind: 'session' | 'cancel';
  readonly socket: Socket;
  /** With whatever came behind it. */
  readonly frames: Frames;
  readonly startup: ReadonlyMap<string, string>;
  /** A cancel request names it; a session has it as its own. */
  readonly process: { readonly number: number; readonly secret: number };
}

export interface EntranceOptions {
  readonly host: Host;
  readonly port: number;
  readonly random: Random;
}

const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;
const GSSENC_REQUEST = 80_877_104;
const PROTOCOL_3 = 196_608;

export class Entrance {
  readonly #program: Program;
  readonly #random: Random;
  readonly #onAdmission: (admission: Admission) => void;
  readonly #sockets = new Set<Socket>();
  readonly #close: () => void;
  #lastProcess: number;

  constructor({ host, port, random }: EntranceOptions, program: Program, onAdmission: (admission: Admission) => void) {
    this.#program = program;
    this.#random = random;
    this.#onAdmission = onAdmission;
    this.#lastProcess = 1_000 + random.int(20);
    this.#close = host.listen(port, (socket) => this.#accept(socket));
  }

  close(): void {
    this.#close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets.clear();
  }

  static refuse(socket: Socket, code: string, message: string): void {
    if (socket.writable) socket.write(errorOf(['SFATAL', 'VFATAL', `C${code}`, `M${message}`]));
    socket.destroySoon();
  }

  /** The kernel takes it, also while the postmaster is stopped. */
  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const leave = (): void => {
      this.#sockets.delete(socket);
      socket.destroy();
    };
    socket.on('error', leave);
    this.#program.run(() => {
      if (this.#sockets.has(socket)) this.#take(socket, leave);
    });
  }

  #take(socket: Socket, leave: () => void): void {
    const frames = new Frames(true);
    const read = (chunk: Buffer): void => {
      frames.add(chunk);
      this.#program.run(() => {
        if (this.#sockets.has(socket))
          this.#readFirst(socket, frames, () => socket.off('data', read).off('end', leave));
      });
    };
    socket.on('end', leave).on('data', read);
  }

  #readFirst(socket: Socket, frames: Frames, done: () => void): void {
    for (;;) {
      const first = frames.next();
      if (first === undefined) return;
      const fields = new Fields(first.body);
      const code = fields.int32();
      if (code === SSL_REQUEST || code === GSSENC_REQUEST) {
        socket.write('N');
        frames.startAgain();
        continue;
      }
      this.#sockets.delete(socket);
      done();
      if (code === CANCEL_REQUEST) {
        const process = { number: fields.int32(), secret: fields.int32() };
        this.#onAdmission({ kind: 'cancel', socket, frames, startup: new Map(), process });
        socket.destroySoon();
      } else if (code === PROTOCOL_3) this.#fork(socket, frames, fields);
      else Entrance.refuse(socket, '0A000', 'unsupported frontend protocol');
      return;
    }
  }

  /** A process takes its time to start. */
  #fork(socket: Socket, frames: Frames, fields: Fields): void {
    const startup = new Map<string, string>();
    for (let name = fields.text(); name !== ''; name = fields.text()) startup.set(name, fields.text());
    this.#lastProcess += 1 + this.#random.int(3);
    const process = { number: this.#lastProcess, secret: 0 };
    let hasEnded = false;
    // Node tells the end of a paused socket as well.
    socket.pause().once('end', () => (hasEnded = true));
    this.#program.schedule(this.#random.between(0.5, 3), () => {
      if (hasEnded) socket.destroy();
      if (socket.destroyed) return;
      this.#onAdmission({ kind: 'session', socket, frames, startup, process });
      socket.resume();
    });
  }
}
