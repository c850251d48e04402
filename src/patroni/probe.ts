// One probe: the GET of a check on one member, as a ProbeOutcome. Reports the answer and never judges it. A redirect,
// an error page of another server or half a document is no evidence.
import type { Check } from '../model/check.ts';
import { parseJson } from '../model/json.ts';
import type { FailureCause, PortState, Probe, ProbeOutcome } from '../model/observation.ts';
import { createSend, statusText, type ApiAccess } from './access.ts';
import type { HttpResult } from './http.ts';
import { readNodeStatus } from './node-status.ts';
import { HTTP } from './transport.ts';

/** The PostgreSQL port gets the rest of the deadline, at least this. Milliseconds. */
const PORT_QUESTION_MS = 300;

/** After this part of the deadline without a TCP connection to the API, the PostgreSQL port is tried. */
const EARLY = 1 / 4;
/** The part of the deadline that the API's TCP connect may take. */
const CONNECT = 1 / 2;

/** Failures without any answer of the API: the PostgreSQL port is tried too. */
const SILENT: readonly FailureCause[] = ['timeout', 'reset', 'unreachable'];

type ProbeAnswer = Extract<HttpResult, { kind: 'answered' }>;

/** Patroni answers these two without a body. */
const BODILESS: readonly string[] = ['/liveness', '/readiness'];

export function createProbe(access: ApiAccess = {}): Probe {
  const send = createSend(access);
  const { clock, askPort } = access.transport ?? HTTP;
  return async (member, check, deadlineMs) => {
    const endsAt = clock.now() + deadlineMs;
    let postgres: Promise<PortState> | undefined;
    const askPostgres = (atMostMs = endsAt - clock.now()): Promise<PortState> =>
      (postgres ??= askPort(member.postgres, Math.max(PORT_QUESTION_MS, atMostMs)));
    // When the host is gone neither port answers, so both are tried at the same time.
    const cancelEarly = clock.schedule(deadlineMs * EARLY, () => void askPostgres(0));
    const result = await send({
      api: member.api,
      path: check.text,
      deadlineMs,
      connectMs: deadlineMs * CONNECT,
      onConnected: cancelEarly,
    });
    cancelEarly();
    switch (result.kind) {
      case 'answered':
        return judge(check, result, access);
      case 'refused':
        return { kind: 'refused', postgres: await askPostgres() };
      case 'failed': {
        const postgres = SILENT.includes(result.cause) ? await askPostgres() : 'unknown';
        return { ...result, postgres };
      }
    }
  };
}

function judge(check: Check, { status, body }: ProbeAnswer, access: ApiAccess): ProbeOutcome {
  if (status >= 300 && status < 400) return failed('redirect', `status ${status}, which is not followed`);
  if (status !== 200 && status !== 503) return failed('unexpected_status', statusText(status, access));
  if (body === '' && BODILESS.includes(check.path)) return { kind: 'answered', status, body: undefined };
  const parsed = readNodeStatus(parseJson(body));
  if (parsed.kind === 'invalid') return failed('malformed', `status ${status}, body ${parsed.why}`);
  return { kind: 'answered', status, body: parsed.status };
}

function failed(cause: FailureCause, detail: string): ProbeOutcome {
  return { kind: 'failed', cause, detail, postgres: 'unknown' };
}
