// Logins of Pointsman's own with a password: on the connections on which servers are asked for their positions.
import { promisify } from 'node:util';
import type { AskedServer } from '../../model/causal-reads.ts';
import type { LoginTools } from '../../wire/talk/password-login.ts';
import { memberConnect } from '../connect/tls/member-dial.ts';
import { apart, sharedClock } from '../fault.ts';
import { HASHES, nodeCrypto } from '../hashes.ts';
import type { OpenPositions, ProxyDependencies, ProxyPolicy } from '../options.ts';
import type { DialLimits, DialResult } from '../server.ts';
import { endPointOf } from './two-legs.ts';

const NONCE_BYTES = 18;
/** SHA-256. */
const KEY_BYTES = 32;

export const LOGIN_TOOLS: LoginTools = {
  hashes: HASHES,
  nonce: () => nodeCrypto().randomBytes(NONCE_BYTES),
  salted: (password, salt, iterations) =>
    promisify(nodeCrypto().pbkdf2)(password, salt, iterations, KEY_BYTES, 'sha256'),
};

type PositionsParts = Pick<ProxyDependencies, 'clock' | 'snapshot' | 'onEvent'>;

export function positionsBy(
  { openPositions, snapshot, ...parts }: PositionsParts & { readonly openPositions: OpenPositions },
  dial: (server: AskedServer, limits: DialLimits, onResult: (result: DialResult) => void) => () => void,
  policy: () => Pick<ProxyPolicy, 'questions'>,
): ReturnType<OpenPositions> {
  return openPositions({
    ...parts,
    clock: sharedClock(parts.clock),
    policy: () => policy().questions,
    connect: memberConnect(dial, parts.clock, false),
    systemIdentifier: () => snapshot?.().systemIdentifier,
    tools: LOGIN_TOOLS,
    endPointOf: (socket) => endPointOf(socket, 'peer'),
    apart: (run) => apart(run)(),
  });
}
