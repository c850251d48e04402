// Tests whether a port accepts connections, with a TCP connect that sends nothing. PostgreSQL does not log such a
// connect.
import { connect, isIP } from 'node:net';
import type { Address } from '../model/member.ts';
import type { PortState } from '../model/observation.ts';
import { tcpTarget } from '../model/tcp-target.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import { failure } from './failure.ts';

/** Never rejects. `unknown` without a checked address, or after a fault of this process. */
export function askPort(address: Address | undefined, deadlineMs: number): Promise<PortState> {
  if (address === undefined || isIP(address.host) === 0) return Promise.resolve('unknown');
  const { promise, resolve } = Promise.withResolvers<PortState>();
  const socket = connect(tcpTarget(address, deadlineMs));
  const deadline = startDeadline(deadlineMs, () => finish('silent'));

  function finish(state: PortState): void {
    const deaf = state === 'silent' && deadline.stalledMs() > STALL_MS;
    deadline.cancel();
    socket.destroy();
    resolve(deaf ? 'unknown' : state);
  }
  socket.once('connect', () => finish('accepts'));
  socket.once('error', (error) => finish(stateOf(error)));
  return promise;
}

function stateOf(error: Error): PortState {
  const ended = failure(error);
  if (ended.kind === 'refused') return 'refused';
  return ended.cause === 'local' ? 'unknown' : 'silent';
}
