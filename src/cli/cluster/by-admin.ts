// Operates the cluster through a running Pointsman, which contacts the members: its address, its trust rules and its
// credentials apply, and its operations run one at a time.
import type { z } from 'zod';
import type { ClusterControl, ClusterOperation, ControlReading } from '../../cluster/control.ts';
import type { OperationResult } from '../../documents/cluster-documents.ts';
import * as contract from '../../documents/cluster-documents.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { readAdminToken } from '../../config/files/admin-token.ts';
import { addressText } from '../../model/member.ts';
import { failureReader, tryRequest, type AdminRequest, type RequestResult } from '../admin-request.ts';
import type { Running } from '../running.ts';

/** For what Pointsman reads from the members. Milliseconds. */
const READ_MS = 35_000;
/** A switchover or a restart is answered when it is done. */
const OPERATION_MS = 16 * 60_000;

const clusterReport = looseReader(contract.clusterReport, { dropsUnknown: true });
const clusterHistory = looseReader(contract.clusterHistory).transform(({ history }) => history);
const clusterConfiguration = looseReader(contract.clusterConfiguration).transform(({ config }) => config);
const plannedRequest = looseReader(contract.plannedRequest).transform(({ planned }) => planned);
const operationResult = looseReader(contract.operationResult, { dropsUnknown: true });

/** `hint`: behind the reason why a document cannot be read. */
export function controlByAdmin(running: Running, hint = ''): ClusterControl {
  const source = `the Pointsman at ${addressText(running.address)}`;
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<ControlReading<T>> => {
    const answer = await tryRequest(running, { method: 'GET', path, deadlineMs: READ_MS });
    const reading = readingOf(answer, schema, source);
    return reading.kind === 'read' ? reading : { ...reading, why: `${reading.why}${hint}` };
  };
  return {
    source: () => source,
    report: () => read('/cluster', clusterReport),
    history: () => read('/cluster/history', clusterHistory),
    config: () => read('/cluster/config', clusterConfiguration),
    async plan(operation) {
      const token = await readAdminToken(running.admin);
      if (token.kind !== 'token') return { kind: 'unreadable', why: whyNoToken(token) };
      const sent = { ...requestOf(operation, '?dry_run=true', token.value), deadlineMs: READ_MS };
      return readingOf(await tryRequest(running, sent), plannedRequest, source);
    },
    async perform(operation) {
      const token = await readAdminToken(running.admin);
      if (token.kind !== 'token') return refused(401, whyNoToken(token));
      const sent = { ...requestOf(operation, '', token.value), deadlineMs: OPERATION_MS };
      return resultOf(await tryRequest(running, sent), source);
    },
  };
}

function requestOf({ kind, ...body }: ClusterOperation, query: string, token: string): AdminRequest {
  return { method: 'POST', path: `/cluster/${kind.replaceAll('_', '-')}${query}`, token, body };
}

function whyNoToken(token: { readonly kind: 'none' } | { readonly kind: 'unusable'; readonly why: string }): string {
  if (token.kind === 'unusable') return token.why;
  const how = 'set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE) or POINTSMAN_ADMIN_TOKEN';
  return `an operation needs the admin token: ${how}`;
}

function readingOf<T>(tried: RequestResult, schema: z.ZodType<T>, source: string): ControlReading<T> {
  if (tried.kind === 'failed') return { kind: 'unreadable', why: tried.why };
  const { data } = schema.safeParse(tried.body);
  if (tried.status === 200 && data !== undefined) return { kind: 'read', value: data };
  return { kind: 'unreadable', why: errorOf(tried, source) };
}

function resultOf(tried: RequestResult, source: string): OperationResult {
  if (tried.kind === 'failed') return { kind: 'no_answer', text: tried.why, may_have_happened: tried.isSent };
  const { data } = operationResult.safeParse(tried.body);
  return data ?? refused(tried.status, errorOf(tried, source));
}

/** By Pointsman itself: nothing happened. */
function refused(status: number, text: string): OperationResult {
  return { kind: KINDS.get(status) ?? 'unexpected', status, text, reason: '' };
}

const KINDS: ReadonlyMap<number, 'invalid' | 'precondition' | 'unauthorized' | 'failed'> = new Map([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [409, 'precondition'],
  [413, 'invalid'],
  [503, 'failed'],
]);

function errorOf({ status, body }: Extract<RequestResult, { kind: 'answer' }>, source: string): string {
  const { data } = failureReader.safeParse(body);
  if (data === undefined) return `${source} answers with HTTP status ${status}: it may be of another version`;
  return data.problems === undefined ? data.error : data.problems.join('; ');
}
