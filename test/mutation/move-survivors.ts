// Mutants that survive for a reason in the way of a session to its next server.
import { survivorsOf, type Survivor } from './survivors.ts';

export const MOVE_SURVIVORS: readonly Survivor[] = [
  survivorsOf(
    'proxy/moves/travelling',
    'a session that travels has its client',
    ['this.#client?.take', 'this.#client.take'],
    ['this.#client?.cancel', 'this.#client.cancel'],
    ['this.#client?.release', 'this.#client.release'],
    ['this.#client?.isWaiting', 'this.#client.isWaiting'],
    ['this.#client?.isOwed', 'this.#client.isOwed'],
    ['this.#client?.hasLostUnnamed', 'this.#client.hasLostUnnamed'],
    ['this.#client?.hasFailed', 'this.#client.hasFailed'],
    ['this.#client?.isWhole', 'this.#client.isWhole'],
  ),
  survivorsOf(
    'proxy/moves/travelling',
    'only a fault ends a session in its park',
    ['false', 'true'],
    ['this.#relayed.drop(isReset);', ';'],
    ['this.#client === undefined', 'true'],
    ['this.#client === undefined', 'false'],
    ['this.#client === undefined', 'this.#client !== undefined'],
  ),
  survivorsOf('proxy/moves/travelling', 'no session is parked without the section', [
    'mover.policy()?.parkTimeoutMs',
    'mover.policy().parkTimeoutMs',
  ]),
  survivorsOf('proxy/moves/travelling', 'the next question puts a Sync before it that nobody needs', [
    'conversation.endBatch();',
    ';',
  ]),
  survivorsOf('proxy/moves/travelling', 'no text for a parked session names its pool', ['{ pool: this.pool }', '{}']),
  survivorsOf('proxy/moves/travelling', 'a parked session counts on no member, so none reroutes it', [
    "this.#parts.session.state === 'moving'",
    'true',
  ]),
  survivorsOf('proxy/moves/travelling', 'no failure is as one that lacks nothing', [
    'this.#failure?.isUncovered === true',
    'true',
  ]),
  survivorsOf(
    'proxy/moves/travelling',
    'the `close` event of the client comes in the same turn, and ends the session too',
    ['client.destroyed', 'false'],
    ["'client_reset'", '""'],
  ),
  survivorsOf(
    'proxy/moves/travelling',
    'a server that is asked for an unnamed statement says that it has none',
    ['reached.login.isUnnamedRefused || !hasUnnamed', 'false'],
    ['reached.login.isUnnamedRefused || !hasUnnamed', 'reached.login.isUnnamedRefused && !hasUnnamed'],
  ),
].flat();
