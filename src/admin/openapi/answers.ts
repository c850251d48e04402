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
  /** By status. A list: one of these. A media type: the answer is no JSON. Refusals that paths share are left out. */
  readonly answers: Readonly<Record<number, readonly SchemaName[] | `text/${string}`>>;
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

/** By method and path. */
export const DESCRIBED: Readonly<Record<string, AnswerDescription>> = {
  'GET /livez': { summary: 'The process answers.', answers: { 200: 'text/plain' } },
  'GET /readyz': {
    summary: 'The first round of probes is complete, and Pointsman does not stop.',
    answers: { 200: 'text/plain', 503: ['Failure'] },
  },
  'GET /primary': { summary: 'The first exclusive pool can serve now.', answers: READY },
  'GET /replica': { summary: 'The first pool that is not exclusive can serve now.', answers: READY },
  'GET /pools/NAME/ready': { summary: 'This pool can serve now.', answers: { ...READY, 404: ['Failure'] } },
  'GET /metrics': { summary: 'Prometheus metrics.', answers: { 200: 'text/plain' } },
  'GET /status': { summary: 'Members, pools and sessions, with the reason for each.', answers: { 200: ['Status'] } },
  'GET /samples': {
    summary: 'Sessions, waiting clients and lag of the last hour, every 5 seconds.',
    answers: { 200: ['Samples'] },
  },
  'GET /pools/NAME': {
    summary: 'The part of the status about one pool.',
    answers: { 200: ['Pool'], 404: ['Failure'] },
  },
  'GET /timeline': {
    summary: 'The spans of the last hour: pools without a route, waiting clients, lag, drained members, switchovers.',
    answers: { 200: ['Timeline'] },
  },
  'GET /incidents': { summary: 'The incidents that are kept, the newest first.', answers: { 200: ['Incidents'] } },
  'GET /incidents/ID': {
    summary:
      'One incident (ID `latest`: the newest): its document, or with format=text a text of at most 64 kB for a ticket.',
    answers: { 200: ['Incident'], 401: ['Failure'], 404: ['Failure'] },
  },
  'GET /config': {
    summary: 'The configuration in effect, without secrets: each value with its origin.',
    answers: { 200: ['Configuration'] },
  },
  'GET /openapi.json': { summary: 'This description, as OpenAPI 3.1.', answers: { 200: [] } },
  'GET /events': {
    summary:
      'Recent events, then new ones, as server-sent events, with status=1 the status as well; or a list (format=json).',
    answers: { 200: ['Events'], 400: ['Failure'], 503: ['Failure'] },
  },
  'GET /cluster': {
    summary: 'The cluster as the management API reports it now.',
    answers: { 200: ['ClusterReport'], 503: ['Failure'] },
  },
  'GET /cluster/history': {
    summary: 'The timelines of the cluster.',
    answers: { 200: ['ClusterHistory'], 503: ['Failure'] },
  },
  'GET /cluster/config': {
    summary: 'The dynamic configuration of the cluster.',
    answers: { 200: ['ClusterConfiguration'], 503: ['Failure'] },
  },
  'GET /branches': {
    summary: 'The branches: parent, positions, backend and sessions of each, and the age of their list.',
    answers: { 200: ['Branches'], 404: ['Failure'] },
  },
  'POST /cluster/switchover': operation('Switch over, now or at a time. Pointsman does not hold clients for it.'),
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
  'GET /switchover': {
    summary: 'The plan of a switchover that holds clients. Nothing happens.',
    answers: { 200: ['SwitchoverPlan'] },
  },
  'POST /switchover': {
    summary: 'Start a switchover that holds clients. GET /operations/ID tells its progress.',
    answers: { 202: ['Operation'], 409: ['OperationConflict', 'Failure'] },
  },
  'GET /operations': { summary: 'The last operations, with the running one.', answers: { 200: ['Operations'] } },
  'GET /operations/ID': { summary: 'One operation.', answers: { 200: ['Operation'], 404: ['Failure'] } },
  'POST /operations/ID/cancel': {
    summary: 'Cancel a running operation: its clients are released at once.',
    answers: { 202: ['Operation'], 404: ['Failure'], 409: ['OperationConflict'] },
  },
  'POST /refresh': { summary: 'Probe all members now.', answers: { 200: ['Refreshed'] } },
  'POST /reload': {
    summary: 'Reload the configuration, as SIGHUP does.',
    answers: { 200: ['Reloaded'], 409: ['Failure'] },
  },
  'POST /members/NAME/drain': {
    summary: 'Take a member out of all pools until it is resumed or Pointsman restarts.',
    answers: { 200: ['Drained'], 404: ['Failure'] },
  },
  'POST /members/NAME/resume': { summary: 'Undo a drain.', answers: { 200: ['Drained'], 404: ['Failure'] } },
  'POST /accept/timeline': {
    summary: 'Accept the primary that is refused for its timeline.',
    answers: { 200: ['Accepted'], 409: ['Failure'] },
  },
  'POST /accept/cluster-identity': {
    summary: 'Accept the primary that is refused for its system identifier.',
    answers: { 200: ['Accepted'], 409: ['Failure'] },
  },
  'GET /sessions': {
    summary: 'The live sessions, the oldest first.',
    answers: { 200: ['Sessions'], 404: ['Failure'] },
  },
  'POST /sessions/ID/kill': {
    summary: 'End one session; a statement that it runs is cancelled.',
    answers: { 200: ['Killed'], 404: ['Failure'], 503: ['Failure'] },
  },
  'POST /sessions/ID/move': {
    summary: 'Move one session to a server of its pool, between two transactions; its client notices nothing.',
    answers: { 200: ['Moved'], 404: ['Failure'], 409: ['Failure'], 503: ['Failure'] },
  },
};
