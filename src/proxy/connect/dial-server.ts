// Opens a connection to the server of a session or of a cancel request, whatever it is.
import type { Server } from '../server.ts';
import type { Dial, DialLimits, DialResult } from './dial.ts';

/** As Dial. */
export type DialServer = (server: Server, limits: DialLimits, onResult: (result: DialResult) => void) => () => void;

export function serverDialer(dial: Dial): DialServer {
  return (server, limits, onResult) => {
    if (!('branch' in server) || server.tls === 'off') return dial(server.address, limits, onResult);
    const detail = 'TLS to the backends of branches is not supported';
    return limits.clock.schedule(0, () => onResult({ kind: 'failed', outcome: 'failed', isLocalFault: true, detail }));
  };
}
