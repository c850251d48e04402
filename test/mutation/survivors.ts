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
  survivorsOf(
    'core/lag',
    'no position but a location has a timeline',
    ["kind === 'location' && timeline !== undefined", "kind === 'location' || timeline !== undefined"],
    ["kind === 'location'", 'true'],
  ),
  survivorsOf('core/lag', 'of two answers of one instant either is as good', [
    'first.at > (newest[0]?.at ?? -Infinity)',
    'first.at >= (newest[0]?.at ?? -Infinity)',
  ]),
  survivorsOf('core/actions', 'an absent limit and an undefined one are the same', ['limitMs === undefined', 'false']),
  survivorsOf(
    'core/actions',
    'each member with an address has a standing',
    ['before === undefined', 'false'],
    ['standing !== undefined', 'true'],
    ['standing?.kind', 'standing.kind'],
    ['after?.kind', 'after.kind'],
  ),
  survivorsOf('core/actions', 'no other standing has the code switchover_due', ["standing?.kind === 'keep'", 'true']),
  survivorsOf('core/actions', 'nothing unknown is due', ['standing === undefined', 'false']),
  survivorsOf('core/actions', 'without a next decision the address differs, and nothing of it is read', [
    'next?.standings',
    'next.standings',
  ]),
  survivorsOf('core/exclusive-pool', 'no timeline is below another one', ['timeline !== undefined', 'true']),
  survivorsOf('core/exclusive-pool', 'no timeline is below an unknown one', ['floor !== undefined', 'true']),
  survivorsOf('core/exclusive-pool', 'no timeline is below -Infinity', ['top === -Infinity', 'false']),
  survivorsOf('core/exclusive-pool', 'without a winner there is none to name', [
    'election.winner !== undefined',
    'true',
  ]),
  survivorsOf('core/exclusive-pool', 'each candidate has a standing', [
    'standings.get(election.winner)?.kind',
    'standings.get(election.winner).kind',
  ]),
  survivorsOf(
    'core/exclusive-pool',
    'a failure is no answer',
    ["outcome.kind !== 'answered'", 'true'],
    ["'answered'", '""'],
  ),
  survivorsOf('core/exclusive-pool', 'no member is superseded before its check is asked', [
    'check?.positiveTimeline',
    'check.positiveTimeline',
  ]),
  survivorsOf('core/exclusive-pool', 'each target has a record', ['record?.standbyReport', 'record.standbyReport']),
  survivorsOf('core/exclusive-pool', 'a vouch counts during a failure alone', [
    'record.failure?.since',
    'record.failure.since',
  ]),
  survivorsOf('core/exclusive-pool', 'no member has this name', ['[]', '["Stryker was here"]']),
  survivorsOf(
    'core/exclusive-pool',
    'no timeline is below -Infinity; a member that was never positive has no session to keep',
    ['-Infinity', '+Infinity'],
  ),
  survivorsOf(
    'core/decide-routes',
    'a pool that is decided twice is decided alike',
    ['known !== undefined', 'false'],
    ['decided.set(pool.name, decision);', ';'],
  ),
  survivorsOf(
    'core/decide-routes',
    'each target has a record',
    ['record?.status', 'record.status'],
    ['record?.standbyReport', 'record.standbyReport'],
    ['record !== undefined', 'true'],
  ),
  survivorsOf('core/decide-routes', 'a member that serves an exclusive pool has no other reason elsewhere', [
    "why.code === 'exclusive_elsewhere'",
    'true',
  ]),
  survivorsOf(
    'core/decide-routes',
    'a pool without a fallback has no route and no decision of one',
    ['pool.fallback === undefined', 'false'],
    ['fallbackPool === undefined', 'false'],
    ['fallback === undefined', 'false'],
  ),
  survivorsOf('core/decide-routes', 'no member without an address is open', ['address === undefined', 'false']),
  survivorsOf('core/decide-routes', 'each pool has all members', ['other === undefined', 'false']),
  survivorsOf('core/decide-routes', 'each need but the other two is a refusal', ["'refused'", '""']),
  survivorsOf('core/decide-routes', 'the winner has a standing', [
    'standings.get(exclusive.winner)?.why',
    'standings.get(exclusive.winner).why',
  ]),
  survivorsOf('core/caught-up', 'each positive answer has an instant', ['-Infinity', '+Infinity']),
  survivorsOf('core/caught-up', 'two such members are both known to have had the highest timeline', [
    'second !== undefined',
    'false',
  ]),
  survivorsOf('core/caught-up', 'no position but a location has a timeline', ["position.kind === 'location'", 'true']),
  survivorsOf('core/observe', 'of two vouches of one instant either is as good', [
    'observation.startedAt < (record.vouch?.at ?? -Infinity)',
    'observation.startedAt <= (record.vouch?.at ?? -Infinity)',
  ]),
  survivorsOf('core/observe', 'of two documents of one instant either is as good', [
    'startedAt < (known?.at ?? -Infinity)',
    'startedAt <= (known?.at ?? -Infinity)',
  ]),
  survivorsOf(
    'core/observe',
    'a refusal has no cause',
    ["outcome.kind === 'failed'", 'true'],
    ["outcome.kind !== 'failed'", 'false'],
  ),
  survivorsOf('core/observe', 'it is called for answers alone', ["outcome.kind !== 'answered'", 'false']),
  survivorsOf('core/observe', 'each positive answer has an instant', ['-Infinity', '+Infinity']),
  survivorsOf('core/observe', 'an absent instant and an undefined one are the same', [
    '{ positiveAt: undefined, positiveSince: undefined, positiveTimeline: undefined }',
    '{}',
  ]),
  survivorsOf('core/standing', 'a dead member has a failure', ['record.failure?.since', 'record.failure.since']),
  survivorsOf('core/standing', 'an unknown instant plus the limit is after nothing', ['at !== undefined', 'true']),
  survivorsOf('core/next-check', 'each report comes with an answer', ['-Infinity', '+Infinity']),
  survivorsOf('core/replay-standstill', 'each member has a standing', [
    'standings.get(name)?.kind',
    'standings.get(name).kind',
  ]),
  survivorsOf(
    'core/refused-primary',
    'each refused primary is a member with a report',
    ['snapshot.members.get(member)?.selfReport', 'snapshot.members.get(member).selfReport'],
    ['report?.timeline', 'report.timeline'],
    ['report?.systemIdentifier', 'report.systemIdentifier'],
    ['report === undefined', 'false'],
  ),
  survivorsOf('core/refused-primary', 'an unknown instant plus the limit is before nothing', [
    'agreedSince !== undefined',
    'true',
  ]),
  survivorsOf(
    'core/refused-primary',
    'no timeline is below an unknown one, and no unknown one below another',
    ['highest !== undefined', 'true'],
    ['report.timeline !== undefined', 'true'],
    ['highest !== undefined && report.timeline !== undefined', 'true'],
    [
      'highest !== undefined && report.timeline !== undefined',
      'highest !== undefined || report.timeline !== undefined',
    ],
  ),
  survivorsOf('core/refused-primary', 'no body with another identifier is kept', [
    'status.systemIdentifier === systemIdentifier',
    'true',
  ]),
  survivorsOf('core/routing-table', 'both routes have as many targets', ['other?.member', 'other.member']),
  survivorsOf('core/routing-table', 'neither is the cause of a hold', ["''", '"Stryker was here!"']),
  survivorsOf('core/succession', 'neither is below the first position that the next server reported', [
    '-Infinity',
    '+Infinity',
  ]),
  survivorsOf('core/balance', 'it saves work: of one target there is one answer', ['targets.length === 1', 'false']),
  survivorsOf('core/balance', 'of two equal scores either is as good', ['score > highest', 'score >= highest']),
  survivorsOf('core/balance', 'it differs for the hash 0 alone, which is never the highest either way', [
    '((hash ^ (hash >>> 16)) >>> 0) + 0.5',
    '((hash ^ hash >>> 16) >>> 0) - 0.5',
  ]),
  survivorsOf('core/snapshot', 'a refusal has no cause', ["failure.outcome.kind === 'failed'", 'true']),
  survivorsOf(
    'core/verdict',
    'without a case of its own the result is undefined, too',
    ["'leader'", '""'],
    ["'liveness'", '""'],
    ["'readiness'", '""'],
    ["case 'readiness': return undefined;", "case 'readiness':"],
  ),
  survivorsOf('core/verdict', 'a role that excludes a member is known', ['role?.replace', 'role.replace']),
  survivorsOf('core/staleness', 'no position but a location has a timeline', [
    "position?.kind !== 'location'",
    'false',
  ]),
  survivorsOf('core/staleness', 'it is called with one mark at least', ['marks[0]?.at', 'marks[0].at']),
  survivorsOf('core/evidence', 'each member with a standing has a record', ['record === undefined', 'false']),
  survivorsOf(
    'core/weights-and-zones',
    'the word undefined is no weight and no tag, and an absent weight and an undefined one are the same',
    ['written === undefined', 'false'],
    ['weightTag === undefined', 'false'],
    ['weight === undefined', 'false'],
  ),
  survivorsOf('core/place-words', 'a member that leaves has a cause', ["'excluded'", '""']),
  survivorsOf(
    'core/operator-override',
    'with a handover there is the table without it, which has the same pools',
    ['usual?.pools', 'usual.pools'],
    ['usual?.pools.get(pool.name)?.standings', 'usual?.pools.get(pool.name).standings'],
  ),
  survivorsOf('core/operator-override', 'no other standing has a cause', ["served.kind === 'leave'", 'true']),
  survivorsOf('core/movability', 'no date and no null is in this text', ["''", '"Stryker was here!"']),
  survivorsOf('core/describe', 'without a unit nothing else is read', ['[undefined, 0, 0]', '[]']),
  survivorsOf('core/describe', 'this code has always a detail', ['detail !== undefined', 'true']),
  survivorsOf(
    'core/describe',
    'each of these codes comes with its evidence',
    ['vouch === undefined', 'false'],
    ['mismatchAt === undefined', 'false'],
    ['streak !== undefined', 'true'],
  ),
  survivorsOf('core/unsent-probes', 'a refusal is never unsent', ["outcome.kind === 'failed'", 'true']),
  survivorsOf(
    'core/vanished',
    'each member with a standing, and each target, has a record',
    ['record !== undefined', 'true'],
    ['record === undefined', 'false'],
  ),
  survivorsOf('core/shared-pool', 'no unknown timeline is below another one', ['timeline !== undefined', 'true']),
  survivorsOf(
    'core/shared-pool',
    'no timeline is below an unknown one',
    ['highestTimeline !== undefined', 'true'],
    ['timeline !== undefined && highestTimeline !== undefined', 'true'],
    [
      'timeline !== undefined && highestTimeline !== undefined',
      'timeline !== undefined || highestTimeline !== undefined',
    ],
  ),
  survivorsOf('core/shared-pool', 'no lag is above an absent limit', ['limit === undefined', 'false']),
  survivorsOf('core/shared-pool', 'no unknown lag is above the limit', ['lag !== undefined', 'true']),
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
  survivorsOf('proxy/relay/stall-gate', 'nothing makes a pool wait that is not exclusive', ['!exclusive', 'false']),
  survivorsOf('proxy/relay/stall-gate', 'it saves the look into an empty map', ['this.#waits.size === 0', 'false']),
  survivorsOf('proxy/connect/first-reply', 'nobody is turned away without an SQLSTATE', [
    'sqlState !== undefined',
    'true',
  ]),
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
  survivorsOf('core/observe', 'of two answers of one instant that are no yes either is as good', [
    "verdict.kind === 'positive'",
    'true',
  ]),
  survivorsOf('core/observe', 'the report stands only while each check has an answer', ['now !== undefined', 'true']),
  survivorsOf(
    'proxy/connect/hold-queue',
    'of two clients whose pauses are over either may go first',
    ['entry.notBefore <= now', 'entry.notBefore < now'],
    ['entry.notBefore < next.notBefore', 'entry.notBefore <= next.notBefore'],
  ),
  survivorsOf('wire/talk/session-restore', 'the server has taken the same statement before', ["'the encoding'", '""']),
  survivorsOf('proxy/cancel/waiting-bytes', 'nothing waits behind a request whose rest is still to come', [
    'this.#taken !== undefined || first === undefined',
    'this.#taken !== undefined && first === undefined',
  ]),
  survivorsOf('proxy/cancel/cancel', 'the next statement sets it', ['{ stop: nothing }', '{}']),
].flat();
