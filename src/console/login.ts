// From the first packet of a client to the end of its login: encryption declined, the startup message checked, the
// token proven.
import { encodeErrorResponse, NOT_SUPPORTED, TLS_ALERT, type ErrorFields } from '../wire/messages/error-response.ts';
import {
  AUTHENTICATION_OK,
  encodeNegotiateProtocolVersion,
  encodeSaslContinue,
  encodeSaslFinal,
  encodeSaslMechanisms,
} from '../wire/messages/server-messages.ts';
import { BodyReader } from '../wire/messages/client-messages.ts';
import { startupParameters } from '../wire/startup/startup.ts';
import { shown } from '../model/printable.ts';
import type { ConsoleInput, ConsoleMessage } from './incoming.ts';
import { challenge, MECHANISM, proven, type Challenge, type Verifier } from './scram.ts';

/** The second name lets the tools for PgBouncer in without a change. */
const DATABASES = ['pointsman', 'pgbouncer'];
/** One for TLS, one for GSS, the startup message. */
const MOST_PACKETS = 3;

export type SendBytes = (bytes: Uint8Array) => Promise<void>;

/** How a client proves that it may read. */
export type ReaderCheck =
  | { readonly kind: 'open' }
  | { readonly kind: 'token'; readonly verifier: Verifier }
  | { readonly kind: 'closed'; readonly why: string; readonly hint: string };

/** Where HTTP is spoken, for a client that took the one port for the other. */
const HTTP_ANSWER = [
  'HTTP/1.1 400 Bad Request',
  'content-type: text/plain; charset=utf-8',
  'connection: close',
  '',
  'this port is the console, which speaks the PostgreSQL protocol: psql -h HOST -p PORT pointsman.',
  'HTTP is on admin.address.',
  '',
].join('\r\n');

/** `token`: the client has proven that it knows the token. */
export type Right = 'open' | 'token';

/** Undefined: the client has its answer, and nothing more is said. */
export async function logIn(
  incoming: ConsoleInput,
  send: SendBytes,
  accessNow: () => Promise<ReaderCheck>,
): Promise<Right | undefined> {
  const startup = await startupOf(incoming, send);
  if (startup === undefined) return undefined;
  const { parameters, minor } = startup;
  const database = parameters.get('database') ?? parameters.get('user') ?? '';
  if (!DATABASES.includes(database)) {
    const message = `database ${shown(database)} does not exist: this is the console of Pointsman`;
    return refuse(send, { sqlState: '3D000', message, hint: 'Its database is pointsman.' });
  }
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
  if (minor > 0 || unknown.length > 0) await send(encodeNegotiateProtocolVersion(unknown));
  const access = await accessNow();
  if (access.kind === 'closed') {
    return refuse(send, { sqlState: '28000', message: access.why, hint: access.hint });
  }
  if (access.kind === 'token' && !(await knowsToken(access.verifier, incoming, send))) return undefined;
  await send(AUTHENTICATION_OK);
  return access.kind;
}

async function refuse(send: SendBytes, fields: ErrorFields): Promise<undefined> {
  await send(encodeErrorResponse(fields));
  return undefined;
}

interface ConsoleStartup {
  readonly parameters: ReadonlyMap<string, string>;
  readonly minor: number;
}

async function startupOf(incoming: ConsoleInput, send: SendBytes): Promise<ConsoleStartup | undefined> {
  for (let packets = 0; packets < MOST_PACKETS; packets += 1) {
    const opening = await incoming.opening();
    if (opening === undefined || opening.kind === 'cancel_request' || opening.kind === 'cancel_offer') return undefined;
    switch (opening.kind) {
      case 'ssl_request':
      case 'gssenc_request':
        await send(NOT_SUPPORTED);
        break;
      case 'tls':
        await send(TLS_ALERT);
        return undefined;
      case 'http':
        await send(new TextEncoder().encode(HTTP_ANSWER));
        return undefined;
      case 'proxy_header':
        await refuse(send, { sqlState: '08P01', message: 'the console takes no header of the PROXY protocol' });
        return undefined;
      case 'invalid':
        await refuse(send, { sqlState: '08P01', message: opening.why });
        return undefined;
      case 'startup': {
        const { major, minor, packet } = opening;
        if (major === 3) return { parameters: startupParameters(packet), minor };
        const message = `unsupported frontend protocol ${major}.${minor}: the console supports 3.0`;
        await refuse(send, { sqlState: '0A000', message });
        return undefined;
      }
    }
  }
  await refuse(send, { sqlState: '08P01', message: 'expected a startup message' });
  return undefined;
}

const WRONG: ErrorFields = {
  sqlState: '28P01',
  message: 'password authentication failed',
  hint: 'The password is the admin token (admin.token_file or POINTSMAN_ADMIN_TOKEN). Any user name will do.',
};

async function knowsToken(verifier: Verifier, incoming: ConsoleInput, send: SendBytes): Promise<true | undefined> {
  await send(encodeSaslMechanisms([MECHANISM]));
  const first = await incoming.message();
  if (first === undefined) return undefined;
  const sent = challengeOf(verifier, first);
  if (sent === undefined) {
    return refuse(send, { sqlState: '28000', message: `the console needs a password by ${MECHANISM}` });
  }
  await send(encodeSaslContinue(sent.message));
  const final = await incoming.message();
  if (final === undefined) return undefined;
  const proof = final.type === 'p' ? proven(verifier, sent, new TextDecoder().decode(final.body)) : undefined;
  if (proof === undefined) return refuse(send, WRONG);
  await send(encodeSaslFinal(proof));
  return true;
}

/** SASLInitialResponse: the mechanism, and the client's first message with its length. */
function challengeOf(verifier: Verifier, { type, body }: ConsoleMessage): Challenge | undefined {
  const reader = new BodyReader(body);
  if (type !== 'p' || reader.text() !== MECHANISM) return undefined;
  const data = reader.bytes(reader.int32() ?? -1);
  return data === undefined ? undefined : challenge(verifier, new TextDecoder().decode(data));
}
