// The lines on which the guarantees rest, and what the program is without each of them. The simulation must notice
// that each one is missing: otherwise it judges less than it seems to.

export interface LoadBearingLine {
  readonly name: string;
  /** The numbers in guarantees.md. */
  readonly guarantee: string;
  /** Below `src`. */
  readonly file: string;
  /** It is there exactly once. */
  readonly line: string;
  readonly without: string;
}

export const LOAD_BEARING_LINES: readonly LoadBearingLine[] = [
  {
    name: 'the check before bytes are forwarded',
    guarantee: 'G2, G3',
    file: 'proxy/relay/stall-gate.ts',
    line: 'this.#deps.decideIfDue();',
    without: '',
  },
  {
    name: 'the fence by timeline',
    guarantee: 'G2',
    file: 'core/exclusive-pool.ts',
    line: "const seen = pool.check.family === 'primary' ? snapshot.highestTimeline : undefined;",
    without: 'const seen = undefined;',
  },
  {
    name: 'one winner among rivals',
    guarantee: 'G1',
    file: 'core/exclusive-pool.ts',
    line: 'if (rivals.length <= 1) {',
    without: 'if (rivals.length >= 0) {',
  },
  {
    name: 'the end of an old primary as soon as the next one is proven',
    guarantee: 'G4',
    file: 'core/exclusive-pool.ts',
    line: "if (superseded !== undefined) return leave('demoted', superseded);",
    without: '',
  },
  {
    name: 'first evict, then release',
    guarantee: 'G3',
    file: 'proxy/proxy.ts',
    line: 'const table = this.#parts.table();',
    without: 'const table = this.#parts.table(); holdQueue.tableChanged();',
  },
  {
    name: 'the proof of coverage of a lost session',
    guarantee: 'G24',
    file: 'core/coverage.ts',
    line: "if (proof === undefined) return never('no WAL position",
    without: "return { kind: 'covered' };\n  if (proof === undefined) return never('no WAL position",
  },
  {
    name: 'the comparison after a restore',
    guarantee: 'G24',
    file: 'wire/talk/session-restore.ts',
    line: 'if (differences.length === 0)',
    without: 'if (differences.length >= 0)',
  },
  {
    name: 'the end of a hold',
    guarantee: 'G10',
    file: 'proxy/connect/hold-queue.ts',
    line: "asStepOf(session, () => request.onGiveUp('hold_timeout'));",
    without: '',
  },
  {
    name: 'the identity of the cluster',
    guarantee: 'G2',
    file: 'core/observe.ts',
    line: 'const found = mismatchOf(snapshot, record, outcome.body);',
    without: 'const found = undefined;',
  },
  {
    name: 'the first complete round',
    guarantee: 'G13',
    file: 'core/decide-routes.ts',
    line: 'if (!isComplete || standing.kind',
    without: 'if (standing.kind',
  },
  {
    name: 'the failed transaction at the next server',
    guarantee: 'G24',
    file: 'proxy/moves/travelling.ts',
    line: 'hasFailed: this.#client?.hasFailed() === true,',
    without: 'hasFailed: false,',
  },
  {
    name: 'the rollback before the question',
    guarantee: 'G24',
    file: 'proxy/moves/state-inquiry.ts',
    line: 'isOpen ? new RollbackQuestion(question) : between',
    without: 'between',
  },
  {
    name: 'the error of a transaction that was rolled back',
    guarantee: 'G24',
    file: 'proxy/cancel/waiting-bytes.ts',
    line: 'this.#owed = owed;',
    without: '',
  },
  {
    name: 'the end of a transaction by a COMMIT that fails',
    guarantee: 'G24',
    file: 'proxy/cancel/waiting-bytes.ts',
    line: "this.#status = asked === 'commit' ? 'idle' : 'failed';",
    without: "this.#status = 'failed';",
  },
  {
    name: 'the COMMIT that a lost server may have run',
    guarantee: 'G24',
    file: 'wire/follow/transaction-watch.ts',
    line: 'this.#isLasting ||= (COMMENT.test(text) ? ENDS_ANYWHERE : ENDS_FIRST).test(text);',
    without: '',
  },
  {
    name: 'a handover ends where the next primary is proven',
    guarantee: 'G1, G3',
    file: 'core/operator-override.ts',
    line: "const isClosing = served.kind === 'leave' && leaveMode(pool, served) === 'close';",
    without: 'const isClosing = false;',
  },
];
