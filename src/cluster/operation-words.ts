// The result of an operation in words: a sentence for each status of the management API, with the member's own reason.
// Pure.
import type { WriteAnswer } from '../patroni/write.ts';
import type { ClusterOperation } from './control.ts';
import type { OperationResult } from '../documents/cluster-documents.ts';

/** The operation as a noun: `the switchover from pg-1 to pg-2`. */
export function nounOf(operation: ClusterOperation): string {
  switch (operation.kind) {
    case 'switchover':
      return `the switchover from ${operation.leader}${to(operation.candidate)}${at(operation.scheduled_at)}`;
    case 'failover':
      return `the failover${to(operation.candidate)}`;
    case 'cancel_switchover':
      return 'the cancellation of the scheduled switchover';
    case 'restart':
      return `the restart of ${operation.member}${at(operation.schedule)}`;
    case 'cancel_restart':
      return `the cancellation of the scheduled restart of ${operation.member}`;
    case 'reload':
      return `the reload of ${operation.member}`;
    case 'reinitialize':
      return `the reinitialization of ${operation.member}`;
    case 'patch_config':
      return 'the change of the configuration';
    case 'replace_config':
      return 'the replacement of the configuration';
    case 'pause':
      return 'the pause of automatic failover';
    case 'resume':
      return 'the end of the pause';
  }
}

function to(member: string | undefined): string {
  return member === undefined ? '' : ` to ${member}`;
}

function at(time: string | undefined): string {
  return time === undefined ? '' : ` at ${time}`;
}

/** `answer`: the API has the request. */
interface OperationAnswer {
  readonly operation: ClusterOperation;
  /** The member that was asked: its name, or the URL of its API. */
  readonly by: string;
  readonly answer: WriteAnswer;
  readonly hasCredentials: boolean;
}

/** By PATCH /config, whose answer is the resulting configuration. The answer to PUT /config is not defined. */
const PATCHES_CONFIG: readonly ClusterOperation['kind'][] = ['patch_config', 'pause', 'resume'];

export function resultOf(answered: OperationAnswer): OperationResult {
  const { operation, by, answer } = answered;
  if (answer.kind === 'no_answer') {
    const text = `${by} has the request for ${nounOf(operation)} and did not answer: ${answer.why}. ${LOOK_FIRST}.`;
    return { kind: 'no_answer', text, may_have_happened: true };
  }
  const { status, document } = answer;
  const isPatch = PATCHES_CONFIG.includes(operation.kind);
  if ((status === 200 || status === 202) && isPatch && document === undefined) {
    const text = `${by} answered status ${status} to ${nounOf(operation)}, but not with the resulting configuration`;
    return { kind: 'unexpected', status, text: `${text}. ${MAY_HOLD}.`, reason: answer.reason };
  }
  if (status === 200) {
    const isConfig = document !== undefined && (isPatch || operation.kind === 'replace_config');
    const reason = isConfig ? '' : answer.reason;
    // The member copies the data after its answer.
    const word = operation.kind === 'reinitialize' ? 'Started' : 'Done';
    const text = `${word}: ${doneNoun(operation, reason)}.${own(by, reason)}`;
    return { kind: 'done', text, reason, ...(isConfig ? { config: document } : {}) };
  }
  if (status === 202) {
    const isAtTime = 'scheduled_at' in operation || 'schedule' in operation;
    const word = isAtTime ? 'Scheduled' : 'Accepted';
    return {
      kind: 'scheduled',
      text: `${word}: ${nounOf(operation)}.${own(by, answer.reason)}`,
      reason: answer.reason,
    };
  }
  const { kind, text } = refusal(answered, answer);
  const said = `${text}.${own(by, answer.reason)}`;
  const told = isUndecided(answer) ? `${said.replace(/\.?$/, '.')} ${LOOK_FIRST}.` : said;
  return { kind, status, text: told, reason: answer.reason };
}

/** Patroni answers 200 as well when another member won (P: api.py, poll_failover_result). */
const OTHERWISE = /\binstead of\b/i;

function doneNoun(operation: ClusterOperation, reason: string): string {
  const isMove = operation.kind === 'switchover' || operation.kind === 'failover';
  if (!isMove || operation.candidate === undefined || !OTHERWISE.test(reason)) return nounOf(operation);
  const { candidate, ...rest } = operation;
  return `${rest.kind === 'failover' ? 'a failover' : nounOf(rest)}, but not to ${candidate}`;
}

/** A gateway may have passed the request on before it answers with these (RFC 9110, 15.6.3, 15.6.5). */
const GATEWAY_STATUSES = [502, 504];
/** Patroni's word when it stops waiting for the end of a switchover (P: api.py, poll_failover_result). */
const UNDECIDED = /\bstatus unknown\b/i;

/** The answer does not say whether the operation takes place. */
export function isUndecided({ status, reason }: { readonly status: number; readonly reason: string }): boolean {
  return GATEWAY_STATUSES.includes(status) || UNDECIDED.test(reason);
}

const MAY_HOLD = 'It may be in effect: look at the configuration before you send it again';
const LOOK_FIRST = 'It may be under way: look at the cluster before you send it again';

type OperationRefusal = Pick<Extract<OperationResult, { readonly status: number }>, 'kind' | 'text'>;

/** The status is neither 200 nor 202. */
function refusal(
  { operation, by, hasCredentials }: OperationAnswer,
  { status, reason }: Extract<WriteAnswer, { kind: 'answered' }>,
): OperationRefusal {
  const noun = nounOf(operation);
  switch (status) {
    case 400:
    case 422:
      return { kind: 'invalid', text: `${by} rejected the request for ${noun} as invalid (status ${status})` };
    case 401:
      return {
        kind: 'unauthorized',
        text: hasCredentials
          ? `${by} did not accept the credentials of cluster.api.auth for ${noun} (status 401)`
          : `${by} requires credentials for ${noun} (status 401): set cluster.api.auth`,
      };
    case 403:
      // P: api.py, check_access.
      if (/client certificate required/i.test(reason)) {
        return {
          kind: 'unauthorized',
          text: `${by} requires a client certificate for ${noun} (status 403): set cluster.api.tls.cert and key`,
        };
      }
      return {
        kind: 'unauthorized',
        text: `${by} does not allow ${noun} from here (status 403): its API has an allowlist, or requires a client \
certificate (cluster.api.tls)`,
      };
    case 404:
    case 409:
    case 412:
      return { kind: 'precondition', text: `Not possible now: ${noun} (status ${status})` };
    case 502:
    case 504:
      return { kind: 'failed', text: `A gateway before the API of ${by} has no answer to ${noun} (status ${status})` };
    default:
      return status >= 500
        ? { kind: 'failed', text: `Failed: ${noun} (status ${status})` }
        : { kind: 'unexpected', text: `${by} answered ${noun} with status ${status}, which is unexpected` };
  }
}

/** The member's own words, as one more sentence. */
function own(by: string, reason: string): string {
  return reason === '' ? '' : ` ${by} answered: ${reason}`;
}

/** `unreached`: each API with the reason: `pg-1 (connection refused)`. */
export function notSent(operation: ClusterOperation, unreached: readonly string[]): OperationResult {
  const text = `The request for ${nounOf(operation)} was not sent: no connection to ${unreached.join(', ')}.`;
  return { kind: 'no_answer', text, may_have_happened: false };
}
