// All connections of one host, with the bytes that its processes sent and read. It changes nothing.

/** One end tells its bytes, and its end. */
export interface EndTap {
  readonly sent: (bytes: Uint8Array) => void;
  readonly read: (bytes: Uint8Array) => void;
  readonly ended: () => void;
}

export class TappedConnection implements EndTap {
  /** Another host has made it. */
  readonly isAccepted: boolean;
  readonly port: number;
  readonly peer: { readonly address: string; readonly port: number };
  readonly openedAt: number;
  /** The process has closed it, or its kernel has given it up. Undefined: it is open. */
  endedAt: number | undefined;
  readonly #now: () => number;
  readonly #sent: Uint8Array[] = [];
  readonly #read: Uint8Array[] = [];

  constructor(isAccepted: boolean, port: number, peer: TappedConnection['peer'], now: () => number) {
    this.isAccepted = isAccepted;
    this.port = port;
    this.peer = peer;
    this.#now = now;
    this.openedAt = now();
  }

  readonly sent = (bytes: Uint8Array): void => void this.#sent.push(bytes);
  readonly read = (bytes: Uint8Array): void => void this.#read.push(bytes);
  readonly ended = (): void => void (this.endedAt ??= this.#now());

  sentBytes(): Buffer {
    return Buffer.concat(this.#sent);
  }

  readBytes(): Buffer {
    return Buffer.concat(this.#read);
  }
}

export class Wiretap {
  readonly connections: TappedConnection[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  connection(isAccepted: boolean, port: number, peer: TappedConnection['peer']): EndTap {
    const connection = new TappedConnection(isAccepted, port, peer, this.#now);
    this.connections.push(connection);
    return connection;
  }
}
