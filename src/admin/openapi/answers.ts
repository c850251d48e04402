// The summary of each endpoint, and the schemas of its answers. A test fails when a row of the table has no entry here.
import type { z } from 'zod';
import {
  clusterConfiguration,
  clusterHistory,
  clusterReport,
  operationAnswer,
  plannedRequest,
} from '../../documents/cluster-documents.ts';
import { branchesDocument } from '../../documents/branches-document.ts';
import { configurationDocument } from '../../documents/configuration-document.ts';
import { eventList } from '../../documents/events-document.ts';
import { incidentDocument } from '../../incidents/schema.ts';
import { incidentList } from '../../documents/incident-list.ts';
import {
  accepted,
  drained,
  failure,
  poolNotReady,
  poolReady,
  refreshed,
  reloaded,
} from '../../documents/action-answers.ts';
import { killedSession, movedSession, sessionList } from '../../documents/sessions-document.ts';
import { samplesDocument } from '../../documents/samples-document.ts';
import { poolDocument, statusDocument } from '../../documents/status-document.ts';
import {
  operationConflict,
  operationDocument,
  operationList,
  planDocument,
} from '../../documents/switchover-document.ts';
import { timelineDocument } from '../../documents/timeline-document.ts';

/** By name; an answer has one of them, or one of several. */
export const SCHEMAS = {
  Failure: failure,
  PoolReady: poolReady,
  PoolNotReady: poolNotReady,
  Status: statusDocument,
  Samples: samplesDocument,
  Pool: poolDocument,
  Timeline: timelineDocument,
  Configuration: configurationDocument,
  Incidents: incidentList,
  Incident: incidentDocument,
  Events: eventList,
  ClusterReport: clusterReport,
  ClusterHistory: clusterHistory,
  ClusterConfiguration: clusterConfiguration,
  Branches: branchesDocument,
  PlannedRequest: plannedRequest,
  OperationResult: operationAnswer,
  SwitchoverPlan: planDocument,
  Operation: operationDocument,
  OperationConflict: operationConflict,
  Operations: operationList,
  Refreshed: refreshed,
  Reloaded: reloaded,
  Drained: drained,
  Accepted: accepted,
  Sessions: sessionList,
  Killed: killedSession,
  Moved: movedSession,
} satisfies Readonly<Record<string, z.ZodType>>;

export type SchemaName = keyof typeof SCHEMAS;

export interface AnswerDescription {
  readonly summary: string;
  /** By status. A list: one of these. Else it is no JSON. Refusals that paths share are left out. */
  readonly answers: Readonly<Record<number, readonly SchemaName[] | 'text/plain'>>;
}

const READY: AnswerDescription['answers'] = { 200: ['PoolReady'], 503: ['PoolNotReady', 'Failure'] };
const RESULT: AnswerDescription['answers'] = {
  200: ['OperationResult', 'PlannedRequest'],
  202: ['OperationResult'],
  ...Object.fromEntries([400, 409, 412, 502, 503, 504].map((status) => [status, ['OperationResult', 'Failure']])),
};

function operation(summary: string): AnswerDescription {
  return { summary, answers: RESULT };
}

/** A refusal is a sentence. */
function described(
  summary: string,
  answer: SchemaName | 'text/plain',
  refusals: readonly number[] = [],
): AnswerDescription {
  const refused = Object.fromEntries(refusals.map((status) => [status, ['Failure' as const]]));
  return { summary, answers: { 200: answer === 'text/plain' ? answer : [answer], ...refused } };
}

/** By method and path. */
export const DESCRIBED: Readonly<Record<string, AnswerDescription>> = {
  'GET /livez': described('The process answers.', 'text/plain'),
  'GET /readyz': described('The first round of probes is complete, and Pointsman does not stop.', 'text/plain', [503]),
  'GET /primary': { summary: 'The first exclusive pool can serve now.', answers: READY },
  'GET /replica': { summary: 'The first pool that is not exclusive can serve now.', answers: READY },
  'GET /pools/NAME/ready': { summary: 'This pool can serve now.', answers: { ...READY, 404: ['Failure'] } },
  'GET /metrics': described('Prometheus metrics.', 'text/plain'),
  'GET /status': described('Members, pools and sessions, with the reason for each.', 'Status'),
  'GET /samples': described('Sessions, waiting clients and lag of the last hour, every 5 seconds.', 'Samples'),
  'GET /pools/NAME': described('The part of the status about one pool.', 'Pool', [404]),
  'GET /timeline': described(
    'The spans of the last hour: pools without a route, waiting clients, lag, drained members, switchovers.',
    'Timeline',
  ),
  'GET /incidents': described('The incidents that are kept, the newest first.', 'Incidents'),
  'GET /incidents/ID': described(
    'One incident (ID `latest`: the newest): its document, or with format=text a text of at most 64 kB for a ticket.',
    'Incident',
    [401, 404],
  ),
  'GET /config': described(
    'The configuration in effect, without secrets: each value with its origin.',
    'Configuration',
  ),
  'GET /openapi.json': { summary: 'This description, as OpenAPI 3.1.', answers: { 200: [] } },
  'GET /events': described(
    'Recent events, then new ones, as server-sent events, with status=1 the status as well; or a list (format=json).',
    'Events',
    [400, 503],
  ),
  'GET /cluster': described('The cluster as the management API reports it now.', 'ClusterReport', [503]),
  'GET /cluster/history': described('The timelines of the cluster.', 'ClusterHistory', [503]),
  'GET /cluster/config': described('The dynamic configuration of the cluster.', 'ClusterConfiguration', [503]),
  'GET /branches': described(
    'The branches: parent, positions, backend and sessions of each, and the age of their list.',
    'Branches',
    [404],
  ),
  'POST /cluster/switchover': operation('Switch over, now or at a time. Clients are held only for one at a time.'),
  'POST /cluster/cancel-switchover': operation('Cancel the scheduled switchover.'),
  'POST /cluster/failover': operation('Promote this member, also without a primary.'),
  'POST /cluster/restart': operation('Restart PostgreSQL of one member, now or at a time, under conditions.'),
  'POST /cluster/cancel-restart': operation('Cancel the scheduled restart of one member.'),
  'POST /cluster/reload': operation('Reload the configuration of one member.'),
  'POST /cluster/reinitialize': operation('Make the data of one replica anew from the primary.'),
  'POST /cluster/patch-config': operation('Change the dynamic configuration.'),
  'POST /cluster/replace-config': operation('Replace the dynamic configuration.'),
  'POST /cluster/pause': operation('Stop automatic failover.'),
  'POST /cluster/resume': operation('Allow automatic failover again.'),
  'GET /switchover': described('The plan of a switchover that holds clients. Nothing happens.', 'SwitchoverPlan'),
  'POST /switchover': {
    summary: 'Start a switchover that holds clients. GET /operations/ID tells its progress.',
    answers: { 202: ['Operation'], 409: ['OperationConflict', 'Failure'] },
  },
  'GET /operations': described('The last operations, with the running one.', 'Operations'),
  'GET /operations/ID': described('One operation.', 'Operation', [404]),
  'POST /operations/ID/cancel': {
    summary: 'Cancel a running operation: its clients are released at once.',
    answers: { 202: ['Operation'], 404: ['Failure'], 409: ['OperationConflict'] },
  },
  'POST /refresh': described('Probe all members now.', 'Refreshed'),
  'POST /reload': described('Reload the configuration, as SIGHUP does.', 'Reloaded', [409]),
  'POST /members/NAME/drain': described(
    'Take a member out of all pools until it is resumed or Pointsman restarts.',
    'Drained',
    [404],
  ),
  'POST /members/NAME/resume': described('Undo a drain.', 'Drained', [404]),
  'POST /accept/timeline': described('Accept the primary that is refused for its timeline.', 'Accepted', [409]),
  'POST /accept/cluster-identity': described(
    'Accept the primary that is refused for its system identifier.',
    'Accepted',
    [409],
  ),
  'GET /sessions': described('The live sessions, the oldest first.', 'Sessions', [404]),
  'POST /sessions/ID/kill': described('End one session; a statement that it runs is cancelled.', 'Killed', [404, 503]),
  'POST /sessions/ID/move': described(
    'Move one session to a server of its pool, between two transactions; its client notices nothing, unless `abort`.',
    'Moved',
    [404, 409, 503],
  ),
};
