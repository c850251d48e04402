// Metrics of branches: their list, lookups, and the waits of clients. No label has the name of a branch, because there
// may be thousands of them. They exist only where branches are configured.
import { BRANCH_LIST_FAILURES, type BranchListStatus, type BranchLookup } from '../model/branch.ts';
import { BRANCH_DIAL_OUTCOMES, BRANCH_WAIT_OUTCOMES } from '../reports/branch-events.ts';
import { ofEvents, type EventMetric } from './event-totals.ts';
import { flag, scraped, unixSeconds, type Scrape, type ScrapedMetric } from './scrape.ts';

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

export const BRANCH_METRICS: readonly EventMetric[] = [
  ofEvents(
    'pointsman_branch_list_reads_total',
    'Reads of the list of branches, by outcome: read, or the kind of failure.',
    ['outcome'],
    { branch_list_read: ({ outcome }) => [[{ outcome }, 1]] },
    { initial: () => ['read', ...BRANCH_LIST_FAILURES].map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_branch_list_read_duration_seconds',
    'Duration of a read of the list of branches, successful or not.',
    [],
    { branch_list_read: ({ durationMs }) => [[{}, durationMs]] },
    { buckets: READ_BUCKETS },
  ),
  ofEvents(
    'pointsman_branch_lookups_total',
    'Clients that asked for a branch, by the result of the lookup.',
    ['result'],
    { branch_located: ({ result }) => [[{ result }, 1]] },
    { initial: () => RESULTS.map((result) => [{ result }, 0]) },
  ),
  ofEvents(
    'pointsman_branch_dials_total',
    'Connects to the backend of a branch for a client, by outcome (starting: not ready yet).',
    ['outcome'],
    { branch_dial_finished: ({ outcome }) => [[{ outcome }, 1]] },
    { initial: () => BRANCH_DIAL_OUTCOMES.map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_branch_waits_total',
    'Clients whose wait for a branch ended, by outcome; a branch that accepts at once is a short wait.',
    ['outcome'],
    { branch_wait_ended: ({ outcome }) => [[{ outcome }, 1]] },
    { initial: () => BRANCH_WAIT_OUTCOMES.map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_branch_wait_duration_seconds',
    'Time from the first connect to the backend of a branch to the end of the wait, whatever the outcome.',
    [],
    { branch_wait_ended: ({ waitedMs }) => [[{}, waitedMs]] },
    { buckets: WAIT_BUCKETS },
  ),
];

export const BRANCH_LIST_METRICS: readonly ScrapedMetric[] = [
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
