// Dialogues of a client and a backend, for the follower between them.
import { expect } from 'vitest';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { AUTHENTICATION_OK, backendKeyData, errorOf, parameterStatus, readyForQuery } from './messages.ts';

/** `C`: a chunk from the client, `B`: from the backend, each with the activity after it. */
type Step = readonly ['C' | 'B', readonly Uint8Array[], string];

export const READY = readyForQuery('I');
export const ERROR = errorOf(['SERROR', 'VERROR', 'C42601', 'Msyntax error']);
/** The backend's messages up to its first ReadyForQuery. */
export const STARTED = [
  AUTHENTICATION_OK,
  parameterStatus('in_hot_standby', 'off'),
  backendKeyData(1, Buffer.alloc(4)),
  READY,
];

export function play(follower: SessionFollower, steps: readonly Step[]): void {
  for (const [index, [from, messages, activity]] of steps.entries()) {
    if (from === 'C') follower.fromClient(Buffer.concat(messages));
    else follower.fromBackend(Buffer.concat(messages));
    expect(`${index}: ${follower.activity()}`).toBe(`${index}: ${activity}`);
    expect(follower.isBetweenTransactions()).toBe(activity === 'idle');
  }
}

export function aStarted(): SessionFollower {
  const follower = new SessionFollower();
  follower.fromBackend(Buffer.concat(STARTED));
  return follower;
}
