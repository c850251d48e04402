// Keeps who connects to a listening socket until it is decided that the socket is to be used, and passes everybody on from then.
import type { Socket } from 'node:net';
import { ignoreErrors } from '../socket.ts';

export interface Door {
  readonly onClient: (client: Socket) => void;
  /** Whoever waited first, in this step. Once. */
  readonly open: (to: (client: Socket) => void) => void;
  /** Ends whoever waits. */
  readonly shut: () => void;
}

export function createDoor(): Door {
  const early: Socket[] = [];
  let to = (client: Socket): void => {
    ignoreErrors(client);
    early.push(client);
  };
  return {
    onClient: (client) => to(client),
    open: (next) => {
      to = next;
      for (const client of early.splice(0)) if (!client.destroyed) next(client);
    },
    shut: () => {
      for (const client of early.splice(0)) client.destroy();
    },
  };
}
