// Mutants that survive for a reason. One is named by its file, the code that it replaces, and its own code.

export interface Survivor {
  readonly file: string;
  readonly code: string;
  readonly mutant: string;
  readonly why: string;
}

/** Mutants of one file and their reason: each with the code that it replaces, and its own. */
export function survivorsOf(
  room: string,
  why: string,
  ...mutants: readonly (readonly [string, string])[]
): readonly Survivor[] {
  return mutants.map(([code, mutant]) => ({ file: `src/${room}.ts`, code, mutant, why }));
}

export const SURVIVORS: readonly Survivor[] = [
  survivorsOf('proxy/accept/admission', 'it saves memory alone', ['left === 0', 'false']),
  survivorsOf('proxy/accept/admission', 'each need but a handshake is a session', ["'session'", '""']),
  survivorsOf('proxy/accept/admission', 'no client is counted without its address, and no limit is 0', [
    'address === undefined',
    'false',
  ]),
  survivorsOf('proxy/connect/hold-queue', 'a pump without a route releases nobody', [
    "queue.lastRoute?.kind === 'open'",
    'true',
  ]),
  survivorsOf('proxy/connect/hold-queue', 'the route was open a moment ago', [
    'this.#options.table().pools.get(queue.pool)?.route',
    'this.#options.table().pools.get(queue.pool).route',
  ]),
  survivorsOf('proxy/connect/hold-queue', 'a pool that is gone from the table has no client that could be released', [
    'this.#options.table().pools.get(pool)?.route',
    'this.#options.table().pools.get(pool).route',
  ]),
  survivorsOf('proxy/connect/hold-queue', 'of two pumps of one instant either is as good', [
    'at >= queue.pumpAt',
    'at > queue.pumpAt',
  ]),
  survivorsOf(
    'proxy/relay/conversation',
    'it saves work where there is nothing to do',
    ['this.#taps.length === 0', 'false'],
    ['this.#taps.length > 0 || this.#transactions !== undefined', 'true'],
    ['this.#taps.length > 0', 'this.#taps.length >= 0'],
    ['idleListeners.size > 0', 'true'],
    ['idleListeners.size > 0', 'idleListeners.size >= 0'],
    ['this.#held !== undefined', 'true'],
  ),
  survivorsOf(
    'proxy/relay/conversation',
    'without a follower nothing is held back and nothing is known to be under way',
    ['this.#follower?.mayGoOn', 'this.#follower.mayGoOn'],
    ['this.#follower?.isAtBoundaryToClient', 'this.#follower.isAtBoundaryToClient'],
  ),
  survivorsOf('proxy/relay/conversation', 'only the gate of transactions divides a chunk where no answer is due', [
    'this.#transactions?.holds',
    'this.#transactions.holds',
  ]),
  survivorsOf('proxy/relay/conversation', 'an undefined number is below nothing', ['passing !== undefined', 'true']),
  survivorsOf(
    'proxy/relay/relayed',
    'nothing is shown of a session that cannot be read, and nothing is known of it',
    ['follower !== undefined', 'true'],
    ['follower?.isAtBoundaryToClient', 'follower.isAtBoundaryToClient'],
    ['follower?.fatal', 'follower.fatal'],
    ['conversation.follower()?.cancelKey', 'conversation.follower().cancelKey'],
  ),
  survivorsOf('proxy/relay/relayed', 'a session that parks has begun', ['this.#relay?.stop', 'this.#relay.stop']),
  survivorsOf('proxy/relay/relayed', 'no session lands on a branch', ["'member' in server", 'true']),
  survivorsOf('proxy/relay/relayed', 'nobody reads the result for a server that had no word', [
    'fatal !== undefined',
    'true',
  ]),
  survivorsOf('proxy/relay/directions', 'bytes begin to wait with a promise alone', ['wait?.then', 'wait.then']),
  survivorsOf('proxy/relay/directions', 'no answer is there without bytes that wait', ['kept === undefined', 'false']),
  survivorsOf('proxy/relay/directions', 'only the rest of a cancelled request has an answer', [
    'kept.tell?.(answer)',
    'kept.tell(answer)',
  ]),
  survivorsOf('proxy/relay/relay', 'how a session ends is known when both sides have closed', [
    "'backend_closed'",
    '""',
  ]),
  survivorsOf('proxy/connect/degraded', 'no other route has them', ["route.kind === 'open'", 'true']),
  survivorsOf('proxy/accept/bind-failure', 'no code is this word', ["''", '"Stryker was here!"']),
  survivorsOf(
    'proxy/ending/parking',
    'it saves memory and work alone',
    ['this.#busy.clear();', ';'],
    ['at >= this.#idleUntil', 'at > this.#idleUntil'],
  ),
  survivorsOf('proxy/ending/parking', 'at the very limit a transaction may be long or not', [
    'now - idleAt >= LONG_MS',
    'now - idleAt > LONG_MS',
  ]),
  survivorsOf('proxy/ending/parking', 'the turn of the busy ones ends each look', ['!isDue', 'true']),
  survivorsOf(
    'proxy/ending/parking',
    'one that is not idle at its turn waits for its next pause',
    ['!session.isIdle()', 'false'],
    ['session.isIdle()', 'true'],
  ),
  survivorsOf(
    'proxy/ending/parking',
    'a session with a pause is a busy one, and each of them moves',
    ['this.#busy.get(session)?.stopListening', 'this.#busy.get(session).stopListening'],
    ['movable?.quietSince', 'movable.quietSince'],
  ),
  survivorsOf('proxy/ending/leaving', 'Node ends a stream alike without bytes', ['message === undefined', 'false']),
  survivorsOf(
    'proxy/ending/when-idle',
    'it saves memory alone',
    ['this.#settling.delete(pending);', ';'],
    ['this.#settling.clear();', ';'],
  ),
  survivorsOf('proxy/ending/when-idle', 'a busy session leaves the queue at once', ['mayEnd()', 'true']),
  survivorsOf(
    'proxy/ending/drains',
    'sessions are looked for that may move, and none is parked',
    ['parking === undefined', 'false'],
    ['[]', '["Stryker was here"]'],
    ['parking !== undefined', 'true'],
  ),
  survivorsOf('proxy/relay/stall-gate', 'nothing makes a pool wait that is not exclusive', ['!exclusive', 'false']),
  survivorsOf('proxy/relay/stall-gate', 'it saves the look into an empty map', ['this.#waits.size === 0', 'false']),
  survivorsOf('proxy/connect/first-reply', 'nobody is turned away without an SQLSTATE', [
    'sqlState !== undefined',
    'true',
  ]),
  survivorsOf('proxy/connect/connect-backend', 'no target is a text', ['[]', '["Stryker was here"]']),
  survivorsOf('proxy/connect/connect-backend', 'it is as false', ['(): boolean => false', '() => undefined']),
  survivorsOf('proxy/connect/picker', 'no member is a text', ['[]', '["Stryker was here"]']),
  survivorsOf('proxy/connect/picker', 'an unknown member has no address', ['before !== undefined', 'true']),
  survivorsOf('proxy/connect/parked-backends', 'no target is a text', ['[]', '["Stryker was here"]']),
  survivorsOf('wire/talk/session-restore', 'the start empties the list', ['[]', '["Stryker was here"]']),
  survivorsOf(
    'wire/talk/session-restore',
    'an error names the unnamed statement only if there is one',
    ['this.#options.unnamed?.description', 'this.#options.unnamed.description'],
    ['unnamed !== undefined', 'true'],
  ),
  survivorsOf('wire/talk/session-restore', 'no setting has the name null', ["typeof name === 'string'", 'true']),
  survivorsOf('wire/talk/session-restore', 'no list of columns is a text', ["'none'", '""']),
  survivorsOf(
    'proxy/connect/hold-queue',
    'of two clients whose pauses are over either may go first',
    ['entry.notBefore <= now', 'entry.notBefore < now'],
    ['entry.notBefore < next.notBefore', 'entry.notBefore <= next.notBefore'],
  ),
  survivorsOf('wire/talk/session-restore', 'the server has taken the same statement before', ["'the encoding'", '""']),
  survivorsOf(
    'proxy/cancel/waiting-bytes',
    'nothing waits behind a request whose rest is still to come',
    ['this.#taken !== undefined || first === undefined', 'this.#taken !== undefined && first === undefined'],
    ['this.#taken !== undefined || first === undefined', 'false'],
  ),
  survivorsOf(
    'proxy/cancel/waiting-bytes',
    'behind the last whole message is no statement, and a header that is cut ends behind the bytes',
    ['at + HEADER <= bytes.length', 'true'],
    ['end > bytes.length', 'end >= bytes.length'],
  ),
  survivorsOf('proxy/cancel/cancel', 'the next statement sets it', ['{ stop: nothing }', '{}']),
].flat();
