// Logins of Pointsman's own with a password: on the connections on which servers are asked for their positions.
import { promisify } from 'node:util';
import type { LoginTools } from '../../wire/talk/password-login.ts';
import { memberConnect } from '../connect/tls/member-dial.ts';
import { apart, sharedClock } from '../fault.ts';
import { HASHES, nodeCrypto } from '../hashes.ts';
import type { OpenPositions, ProxyDependencies, ProxyPolicy } from '../options.ts';
import type { DialServer } from '../server.ts';
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

/** Undefined: nobody can ask. */
export function positionsBy(
  options: ProxyDependencies,
  dial: DialServer,
  policy: () => ProxyPolicy,
): ReturnType<OpenPositions> | undefined {
  const { openPositions, clock, snapshot } = options;
  return openPositions?.({
    ...options,
    clock: sharedClock(clock),
    policy: () => policy().questions,
    connect: memberConnect(dial, clock, false),
    systemIdentifier: () => snapshot?.().systemIdentifier,
    tools: LOGIN_TOOLS,
    endPointOf: (socket) => endPointOf(socket, 'peer'),
    apart: (run) => apart(run)(),
  });
}
