// The branches: in GET /status the state of their list, in GET /branches each of them. Null: unknown, or there is none.
import { z } from 'zod';
import { BRANCH_LIST_FAILURES, BRANCH_SOURCES } from '../model/branch.ts';
import { count, list, seconds, time } from './document-parts.ts';

const bytes = z.number().min(0);

/** The state of the list of branches. */
export const branchList = {
  source: z.enum(BRANCH_SOURCES),
  read_at: time.nullable().describe('When the read of the list in use began. Null: no read has succeeded yet.'),
  age_seconds: seconds.nullable().describe('The age of the list in use.'),
  failing: z
    .strictObject({
      failure: z.enum(BRANCH_LIST_FAILURES),
      why: z.string(),
      for_seconds: seconds.describe('Since the first of the failed reads.'),
    })
    .nullable()
    .describe('The last read of the list failed; the list before it stays in use.'),
};

const branch = z.strictObject({
  id: z.string(),
  name: z.string().describe('A timeline without a name has its id here.'),
  parent_id: z.string().nullable().describe('Null: a root; of the source static it is not known.'),
  parent_name: z.string().nullable(),
  parent_lsn: z.string().nullable().describe('Where it left its parent.'),
  last_record_lsn: z.string().nullable().describe('Its own position. A console does not report it.'),
  behind_parent_bytes: bytes.nullable().describe('What its parent has written since.'),
  written_bytes: bytes.nullable().describe('What it has written itself. 0: it was never written.'),
  has_read_endpoint: z.boolean().nullable(),
  backend: z.string().nullable().describe('host:port for the listener of an exclusive pool.'),
  read_backend: z.string().nullable().describe('host:port for any other listener.'),
  rule: z
    .enum(['override', 'read_override', 'template', 'read_template', 'static'])
    .nullable()
    .describe('The setting that gives the backend.'),
  why_no_backend: z.string().nullable().describe('Clients that ask for it are refused for this reason.'),
  sessions: count,
});

export const branchesDocument = z.strictObject({
  ...branchList,
  silent_workers: list(count).describe('Workers that did not answer in time: their sessions are not counted.'),
  branches: list(branch).describe('In the order of their names.'),
});

export type BranchListDocument = z.infer<z.ZodObject<typeof branchList>>;
export type BranchDocument = z.infer<typeof branch>;
export type BranchesDocument = z.infer<typeof branchesDocument>;
