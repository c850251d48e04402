// A dial that ends with an encrypted connection: TCP, then TLS, with one deadline for both.
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { scheduleAfterReads } from '../../../model/instant.ts';
import { nothing } from '../../../model/once.ts';
import type { TlsFault } from '../../../model/tls-fault.ts';
import type { Dial, DialResult } from '../../server.ts';
import { nodeSocket } from '../../plain/plain-socket.ts';
import { encryptServer, type EncryptOptions, type TlsFailure } from './encrypt-server.ts';
import type { Trust } from './server-trust.ts';

export interface TlsDialOptions extends Pick<EncryptOptions, 'checksName' | 'isDirect' | 'words'> {
  /** Default: the host. */
  readonly name?: string | undefined;
  /** At the time of the connect. Never rejects. */
  readonly trust: () => Promise<Trust>;
}

export function tlsDial(dial: Dial, { name, trust, ...how }: TlsDialOptions): Dial {
  return (address, limits, onResult) => {
    const { clock, timeoutMs, onReached } = limits;
    const trusted = trust();
    let leave = nothing;
    let isDone = false;
    const finish = (result: DialResult | undefined): void => {
      if (isDone) return;
      isDone = true;
      cancelDeadline();
      if (result?.kind !== 'connected') leave();
      if (result !== undefined) onResult(result);
    };
    const failed = (failure: TlsFailure): void => finish(failedDial(failure));
    const encrypt = (socket: Socket, context: SecureContext): void => {
      leave = encryptServer({
        ...how,
        socket,
        name: name ?? address.host,
        context,
        onSecure: (secured) => finish({ kind: 'connected', socket: secured }),
        onFailed: failed,
      });
    };
    const connected = (socket: Socket): void => {
      leave = () => socket.destroy();
      onReached?.();
      void trusted.then((reading) => {
        if (isDone) return undefined;
        if (reading.kind === 'trusted') return encrypt(socket, reading.context);
        return failed({ fault: 'files', detail: reading.why });
      });
    };
    const expired = (): void => failed({ fault: 'timeout', detail: `no TLS within ${timeoutMs} ms` });
    const cancelDeadline = scheduleAfterReads(clock, timeoutMs, expired);
    leave = dial(address, limits, (result) => {
      if (result.kind === 'connected') connected(nodeSocket(result.socket));
      else finish(result);
    });
    return () => finish(undefined);
  };
}

/** Another attempt may have another result. */
const PASSING: ReadonlySet<TlsFault> = new Set<TlsFault>(['answer', 'closed', 'timeout', 'handshake']);

function failedDial({ fault, detail }: TlsFailure): DialResult {
  const outcome = fault === 'timeout' ? 'timeout' : 'failed';
  return { kind: 'failed', outcome, isLocalFault: false, isLasting: !PASSING.has(fault), tlsFault: fault, detail };
}
