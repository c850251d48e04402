// Metrics of branches: their list, lookups, and the waits of clients. No label has the name of a branch, because there
// may be thousands of them. They exist only where branches are configured.
import type { Registry } from 'prom-client';
import { BRANCH_LIST_FAILURES, type BranchListStatus, type BranchLookup } from '../model/branch.ts';
import { BRANCH_DIAL_OUTCOMES, BRANCH_WAIT_OUTCOMES, type BranchEvent } from '../reports/branch-events.ts';
import { handle, type EventHandlers } from '../reports/events.ts';
import { familiesIn, type Families } from './families.ts';
import { flag, scraped, unixSeconds, type Scrape, type ScrapedMetric } from './scrape.ts';

export interface BranchMetrics {
  readonly count: (event: BranchEvent) => void;
  /** At the scrape. */
  readonly update: (scrape: Scrape) => void;
}

const RESULTS: readonly BranchLookup['kind'][] = [
  'found',
  'unknown',
  'not_allowed',
  'ambiguous',
  'no_backend',
  'unavailable',
];
/** Seconds. A branch that wakes up takes seconds. */
const WAIT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const READ_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createBranchMetrics(registry: Registry): BranchMetrics {
  const families = familiesIn(registry);
  const totals = counters(branchTotals(families));
  const updates = LIST_METRICS.map((create) => create(families));
  return {
    count: (event) => handle(totals, event),
    update: (scrape) => updates.forEach((update) => update(scrape)),
  };
}

function counters({
  reads,
  readSeconds,
  lookups,
  dials,
  waits,
  waitSeconds,
}: ReturnType<typeof branchTotals>): EventHandlers {
  return {
    branch_list_read: ({ outcome, durationMs }) => {
      reads.inc({ outcome });
      readSeconds.observe(durationMs / 1000);
    },
    branch_located: ({ result }) => lookups.inc({ result }),
    branch_dial_finished: ({ outcome }) => dials.inc({ outcome }),
    branch_wait_ended: ({ outcome, waitedMs }) => {
      waits.inc({ outcome });
      waitSeconds.observe(waitedMs / 1000);
    },
  };
}

/** Without a series when branches are no longer configured. */
function ofList(
  name: string,
  help: string,
  read: (list: BranchListStatus, scrape: Scrape) => number | undefined,
): ScrapedMetric {
  return scraped(name, help, ['source'], (scrape) => {
    const list = scrape.branches;
    return list === undefined ? [] : [[{ source: list.source }, read(list, scrape)]];
  });
}

const LIST_METRICS: readonly ScrapedMetric[] = [
  ofList(
    'pointsman_branches',
    'Branches in the list that is in use; 0 before the first list.',
    ({ branches }) => branches,
  ),
  ofList(
    'pointsman_branch_list_read_timestamp_seconds',
    'Start of the read that gave the list of branches in use (Unix time); absent before the first list.',
    ({ readAt }, scrape) => unixSeconds(scrape, readAt),
  ),
  ofList('pointsman_branch_list_failing', '1 while the list of branches cannot be read.', ({ failing }) =>
    flag(failing !== undefined),
  ),
];

function branchTotals({ counter, histogram }: Families) {
  const totals = {
    reads: counter(
      'pointsman_branch_list_reads_total',
      'Reads of the list of branches, by outcome: read, or the kind of failure.',
      ['outcome'],
    ),
    readSeconds: histogram(
      'pointsman_branch_list_read_duration_seconds',
      'Duration of a read of the list of branches, successful or not.',
      READ_BUCKETS,
    ),
    lookups: counter(
      'pointsman_branch_lookups_total',
      'Clients that asked for a branch, by the result of the lookup.',
      ['result'],
    ),
    dials: counter(
      'pointsman_branch_dials_total',
      'Connects to the backend of a branch for a client, by outcome (starting: not ready yet).',
      ['outcome'],
    ),
    waits: counter(
      'pointsman_branch_waits_total',
      'Clients whose wait for a branch ended, by outcome; a branch that accepts at once is a short wait.',
      ['outcome'],
    ),
    waitSeconds: histogram(
      'pointsman_branch_wait_duration_seconds',
      'Time from the first connect to the backend of a branch to the end of the wait, whatever the outcome.',
      WAIT_BUCKETS,
    ),
  };
  for (const outcome of ['read', ...BRANCH_LIST_FAILURES]) totals.reads.inc({ outcome }, 0);
  for (const result of RESULTS) totals.lookups.inc({ result }, 0);
  for (const outcome of BRANCH_DIAL_OUTCOMES) totals.dials.inc({ outcome }, 0);
  for (const outcome of BRANCH_WAIT_OUTCOMES) totals.waits.inc({ outcome }, 0);
  return totals;
}
