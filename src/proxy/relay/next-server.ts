// Where a parked session goes on.
import type { Socket } from 'node:net';
import type { CancelKey } from '../../wire/messages/cancel-key.ts';
import type { Server } from '../server.ts';

export interface NextServer {
  readonly server: Server;
  /** The session is logged in, and the backend waits for its next statement. */
  readonly backend: Socket;
  /** Of the new login. */
  readonly key: CancelKey | undefined;
  /** Messages of ours to the client, before those of the server. */
  readonly news: Uint8Array;
  /** The client's bytes so far. */
  readonly opening: Uint8Array;
  readonly hasClientEnded: boolean;
}
