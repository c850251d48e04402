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
];
