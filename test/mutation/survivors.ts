// Mutants that survive for a reason. One is named by its file, the code that it replaces, and its own code.

export interface Survivor {
  readonly file: string;
  readonly code: string;
  readonly mutant: string;
  readonly why: string;
}

export const SURVIVORS: readonly Survivor[] = [
  {
    file: 'src/core/lag.ts',
    code: "kind === 'location' && timeline !== undefined",
    mutant: "kind === 'location' || timeline !== undefined",
    why: 'no position but a location has a timeline',
  },
  {
    file: 'src/core/lag.ts',
    code: "kind === 'location'",
    mutant: 'true',
    why: 'no position but a location has a timeline',
  },
  {
    file: 'src/core/lag.ts',
    code: 'first.at > (newest[0]?.at ?? -Infinity)',
    mutant: 'first.at >= (newest[0]?.at ?? -Infinity)',
    why: 'of two answers of one instant either is as good',
  },
  {
    file: 'src/core/actions.ts',
    code: 'limitMs === undefined',
    mutant: 'false',
    why: 'an absent limit and an undefined one are the same',
  },
  {
    file: 'src/core/actions.ts',
    code: 'before === undefined',
    mutant: 'false',
    why: 'each member with an address has a standing',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'timeline !== undefined',
    mutant: 'true',
    why: 'no timeline is below another one',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'election.floor !== undefined',
    mutant: 'true',
    why: 'no timeline is below an unknown one',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'top === -Infinity',
    mutant: 'false',
    why: 'no timeline is below -Infinity',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'known !== undefined',
    mutant: 'false',
    why: 'a pool that is decided twice is decided alike',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'decided.set(pool.name, decision);',
    mutant: ';',
    why: 'a pool that is decided twice is decided alike',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'record?.status',
    mutant: 'record.status',
    why: 'each target has a record',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'record?.standbyReport',
    mutant: 'record.standbyReport',
    why: 'each target has a record',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'record !== undefined',
    mutant: 'true',
    why: 'each target has a record',
  },
  {
    file: 'src/core/actions.ts',
    code: 'standing !== undefined',
    mutant: 'true',
    why: 'each member with an address has a standing',
  },
  {
    file: 'src/core/actions.ts',
    code: 'standing?.kind',
    mutant: 'standing.kind',
    why: 'each member with an address has a standing',
  },
  {
    file: 'src/core/actions.ts',
    code: 'after?.kind',
    mutant: 'after.kind',
    why: 'each member with an address has a standing',
  },
  {
    file: 'src/core/actions.ts',
    code: "standing?.kind === 'keep'",
    mutant: 'true',
    why: 'no other standing has the code switchover_due',
  },
  {
    file: 'src/core/actions.ts',
    code: 'standing === undefined',
    mutant: 'false',
    why: 'nothing unknown is due',
  },
  {
    file: 'src/core/actions.ts',
    code: 'next?.standings',
    mutant: 'next.standings',
    why: 'without a next decision the address differs, and nothing of it is read',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'election.winner !== undefined',
    mutant: 'true',
    why: 'without a winner there is none to name',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'standings.get(election.winner)?.kind',
    mutant: 'standings.get(election.winner).kind',
    why: 'each candidate has a standing',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: "outcome.kind !== 'answered'",
    mutant: 'true',
    why: 'a failure is no answer',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: "'answered'",
    mutant: '""',
    why: 'a failure is no answer',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'record?.standbyReport',
    mutant: 'record.standbyReport',
    why: 'each target has a record',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: 'record.failure?.since',
    mutant: 'record.failure.since',
    why: 'a vouch counts during a failure alone',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: '[]',
    mutant: '["Stryker was here"]',
    why: 'no member has this name',
  },
  {
    file: 'src/core/exclusive-pool.ts',
    code: '-Infinity',
    mutant: '+Infinity',
    why: 'no timeline is below -Infinity; a member that was never positive has no session to keep',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: "why.code === 'exclusive_elsewhere'",
    mutant: 'true',
    why: 'a member that serves an exclusive pool has no other reason elsewhere',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'address === undefined',
    mutant: 'false',
    why: 'no member without an address is open',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'other === undefined',
    mutant: 'false',
    why: 'each pool has all members',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: "'refused'",
    mutant: '""',
    why: 'each need but the other two is a refusal',
  },
  {
    file: 'src/core/decide-routes.ts',
    code: 'standings.get(exclusive.winner)?.why',
    mutant: 'standings.get(exclusive.winner).why',
    why: 'the winner has a standing',
  },
  {
    file: 'src/core/caught-up.ts',
    code: '-Infinity',
    mutant: '+Infinity',
    why: 'each positive answer has an instant',
  },
  {
    file: 'src/core/caught-up.ts',
    code: 'second !== undefined',
    mutant: 'false',
    why: 'two such members are both known to have had the highest timeline',
  },
  {
    file: 'src/core/caught-up.ts',
    code: "position.kind === 'location'",
    mutant: 'true',
    why: 'no position but a location has a timeline',
  },
  {
    file: 'src/core/observe.ts',
    code: 'observation.startedAt < (record.vouch?.at ?? -Infinity)',
    mutant: 'observation.startedAt <= (record.vouch?.at ?? -Infinity)',
    why: 'of two vouches of one instant either is as good',
  },
  {
    file: 'src/core/observe.ts',
    code: 'startedAt < (known?.at ?? -Infinity)',
    mutant: 'startedAt <= (known?.at ?? -Infinity)',
    why: 'of two documents of one instant either is as good',
  },
  {
    file: 'src/core/observe.ts',
    code: "outcome.kind === 'failed'",
    mutant: 'true',
    why: 'a refusal has no cause',
  },
  {
    file: 'src/core/observe.ts',
    code: "outcome.kind !== 'failed'",
    mutant: 'false',
    why: 'a refusal has no cause',
  },
  {
    file: 'src/core/observe.ts',
    code: "outcome.kind !== 'answered'",
    mutant: 'false',
    why: 'it is called for answers alone',
  },
  {
    file: 'src/core/observe.ts',
    code: '-Infinity',
    mutant: '+Infinity',
    why: 'each positive answer has an instant',
  },
  {
    file: 'src/core/observe.ts',
    code: '{ positiveAt: undefined, positiveSince: undefined, positiveTimeline: undefined }',
    mutant: '{}',
    why: 'an absent instant and an undefined one are the same',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'timeline !== undefined',
    mutant: 'true',
    why: 'no unknown timeline is below another one',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'highestTimeline !== undefined',
    mutant: 'true',
    why: 'no timeline is below an unknown one',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'timeline !== undefined && highestTimeline !== undefined',
    mutant: 'true',
    why: 'no timeline is below an unknown one',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'timeline !== undefined && highestTimeline !== undefined',
    mutant: 'timeline !== undefined || highestTimeline !== undefined',
    why: 'no timeline is below an unknown one',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'limit === undefined',
    mutant: 'false',
    why: 'no lag is above an absent limit',
  },
  {
    file: 'src/core/shared-pool.ts',
    code: 'lag !== undefined',
    mutant: 'true',
    why: 'no unknown lag is above the limit',
  },
];
