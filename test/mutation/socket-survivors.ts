// Mutants that survive for a reason in the switchover and in the moves of sessions.
import { survivorsOf, type Survivor } from './survivors.ts';

export const SOCKET_SURVIVORS: readonly Survivor[] = [
  survivorsOf('cluster/switchover/plan', 'what cannot be read has no value', ["report.kind === 'read'", 'true']),
  survivorsOf('cluster/switchover/plan', 'each member that cannot follow has a reason', ["''", '"Stryker was here!"']),
  survivorsOf('cluster/switchover/plan', 'no unknown member answers', ['record === undefined', 'false']),
  survivorsOf(
    'cluster/switchover/phases',
    'the check begins with the operation',
    ["'check'", '""'],
    ['this.#entered.at(-1)?.phase', 'this.#entered.at(-1).phase'],
  ),
  survivorsOf('cluster/switchover/change-waiter', 'neither is true', ['(): boolean => false', '() => undefined']),
  survivorsOf('cluster/switchover/change-waiter', 'the wait ends with each value but undefined', ['true', 'false']),
  survivorsOf('cluster/switchover/fleet-switchover', 'a plan without a primary has a problem', [
    'from === null',
    'false',
  ]),
  survivorsOf('cluster/switchover/fleet-switchover', 'an absent member and an undefined one are the same', [
    'to === undefined',
    'false',
  ]),
  survivorsOf('cluster/switchover/fleet-switchover', 'no instant is behind an unknown one', [
    'due !== undefined',
    'true',
  ]),
  survivorsOf(
    'cluster/switchover/fleet-switchover',
    'at the very limit it may look once more',
    ['now >= due + OVERDUE_MS', 'now > due + OVERDUE_MS'],
    [
      'now >= Math.max(steppedDown, due ?? steppedDown) + limitMs',
      'now > Math.max(steppedDown, due ?? steppedDown) + limitMs',
    ],
  ),
  survivorsOf('proxy/reads/causal-reads', 'a train of nobody does nothing', ['false', 'true']),
  survivorsOf(
    'proxy/reads/causal-reads',
    'nobody gets a gate without somebody to ask, and a train that was made is there',
    ['train === undefined || positions === undefined', 'train === undefined && positions === undefined'],
    ['positions === undefined', 'false'],
    ['this.#train()?.tableChanged', 'this.#train().tableChanged'],
    ['this.#train()?.stop', 'this.#train().stop'],
  ),
  survivorsOf(
    'proxy/reads/last-minute',
    'a text has no number, and older slices are counted nowhere',
    ['[]', '["Stryker was here"]'],
    ['this.#slices.length > SLICES', 'false'],
    ['this.#slices.shift();', ';'],
  ),
  survivorsOf('proxy/reads/late-episodes', 'an episode that is over has no timer', ['episode === undefined', 'false']),
  survivorsOf('proxy/reads/detours', 'no pool has this name', ["''", '"Stryker was here!"']),
  survivorsOf(
    'proxy/reads/read-gate',
    'a read came by a conversation, at a member, and a session that cannot move does not go back',
    ['conversation?.follower', 'conversation.follower'],
    ['session.assignment()?.isFallback', 'session.assignment().isFallback'],
    ['session.movable?.request', 'session.movable.request'],
  ),
  survivorsOf('proxy/reads/read-train', 'without a word that counts the last one is older than the read', [
    'word !== undefined',
    'true',
  ]),
  survivorsOf('proxy/reads/read-train', 'of no reads nothing is judged', [
    'this.#reads.size > 0',
    'this.#reads.size >= 0',
  ]),
  survivorsOf('proxy/reads/read-train', 'a read without a word was not behind', [
    '{ word: undefined, wasBehind: false }',
    '{}',
  ]),
  survivorsOf('proxy/reads/read-gate', 'the arrival sets it before it is read', ['false', 'true']),
  survivorsOf('cluster/switchover/procedure', 'each cancel names who cancels', ["'the operator'", '""']),
  survivorsOf(
    'cluster/switchover/procedure',
    'a tally without events counts nothing',
    ["''", '"Stryker was here!"'],
    ['[]', '["Stryker was here"]'],
  ),
  survivorsOf('cluster/switchover/procedure', 'a plan without a primary has a problem', [
    'plan.from === null',
    'false',
  ]),
  survivorsOf('cluster/switchover/procedure', 'the primary is alone in each pool that it serves', [
    'openRoute(table, pool)?.targets.some(({ member }) => member === from)',
    'openRoute(table, pool)?.targets.every(({   member }) => member === from)',
  ]),
  survivorsOf(
    'cluster/switchover/procedure',
    'the tally begins with the hold',
    ['this.#tally?.drainBegins', 'this.#tally.drainBegins'],
    ['this.#tally?.left', 'this.#tally.left'],
  ),
  survivorsOf('cluster/switchover/procedure', 'an absent member and an undefined one are the same', [
    'to === undefined',
    'false',
  ]),
  survivorsOf('cluster/switchover/procedure', 'a request comes from a known primary', ['from === undefined', 'false']),
  survivorsOf(
    'proxy/moves/spreader',
    'it looks once more',
    ['now - round.openedAt >= slowStartMs', 'now - round.openedAt > slowStartMs'],
    ['now < round.restsUntil', 'now <= round.restsUntil'],
  ),
  survivorsOf(
    'proxy/moves/spreader',
    'a plan has targets of the route alone, and no more sessions than may leave',
    ['session?.movable === undefined', 'false'],
    ['session?.movable', 'session.movable'],
    ['target !== undefined', 'true'],
  ),
  survivorsOf('proxy/moves/spreader', 'a pool without the setting owes nobody', ['rebalance === undefined', 'false']),
  survivorsOf(
    'proxy/moves/spreader',
    'each target has its list, its round and the moves of its pool by then',
    ['movable.get(target.member)?.length', 'movable.get(target.member).length'],
    ['round === undefined', 'false'],
    ['[]', '["Stryker was here"]'],
  ),
  survivorsOf('proxy/moves/spreader', 'the look that makes a round tells whether it is over', ['false', 'true']),
  survivorsOf('proxy/moves/spreader', 'chance is hardly ever one half', [
    'random() >= 1 / processes',
    'random() > 1 / processes',
  ]),
  survivorsOf('proxy/moves/move-queue', 'what is not in the queue is not taken out', ['next !== undefined', 'true']),
  survivorsOf('cluster/switchover/switchover-evidence', 'no unknown instant is after another one', [
    'record.positiveSince !== undefined',
    'true',
  ]),
  survivorsOf('cluster/switchover/switchover-evidence', 'no member has an unknown name', ['to === undefined', 'false']),
  survivorsOf('proxy/moves/preflight', 'only movable is told from the rest', ["'pinned'", '""']),
  survivorsOf('proxy/moves/move-queue', 'it saves memory alone', ['this.#silent.size === 0', 'false']),
  survivorsOf('proxy/moves/move-queue', 'no text is among the silent sessions', ['[]', '["Stryker was here"]']),
  survivorsOf(
    'proxy/moves/last-state',
    'no run of an unknown member is known',
    ['member === undefined', 'false'],
    ['member !== undefined', 'true'],
  ),
].flat();
