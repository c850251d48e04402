// A login on two connections: the certificates that client and server have shown, and the way of the login by them.
import { memoized } from '../../model/once.ts';
import { matchesWildcard } from '../../model/wildcard.ts';
import type { LoginsPolicy } from '../../model/logins.ts';
import { endPointHash } from '../../wire/talk/end-point.ts';
import { TwoLegLogin, type TwoLegLoginOptions } from '../../wire/talk/two-leg-login.ts';
import { HASHES, nodeCrypto } from '../hashes.ts';
import { isTls, type ProxySocket } from '../socket.ts';
import { nodeTls } from '../startup/tls-handshake.ts';

const NONCE_BYTES = 18;
const PROOF_BYTES = 32;
const LOOPBACK = /^(?:127\.|::1$)/;

/** Pointsman must read the login: somebody else's TLS may be what the client, or the server, binds it to. */
export function hasTwoLegs(client: ProxySocket, backend: ProxySocket, logins: LoginsPolicy | undefined): boolean {
  return isTls(backend) || (isTls(client) && logins !== undefined);
}

/** `address`: the client's. */
export function twoLegLogin(
  { client, backend, address, role }: Record<'client' | 'backend', ProxySocket> & Record<'address' | 'role', string>,
  logins: LoginsPolicy | undefined,
): TwoLegLogin {
  const ownHash = memoized(() => endPointOf(client, 'own'));
  const serverHash = memoized(() => endPointOf(backend, 'peer'));
  const random = memoized(randomParts);
  return new TwoLegLogin({
    // Read for SCRAM alone: to translate two certificates is a tenth of the processor time of a connect.
    get ownHash() {
      return ownHash();
    },
    get serverHash() {
      return serverHash();
    },
    get random() {
      return random();
    },
    isPasswordSafe: isTls(client) || LOOPBACK.test(address),
    hasVerifiers: isTls(client) && logins?.roles.some((pattern) => matchesWildcard(role, pattern)) === true,
    hashes: HASHES,
  });
}

function randomParts(): TwoLegLoginOptions['random'] {
  const { randomBytes } = nodeCrypto();
  return { client: randomBytes(NONCE_BYTES), server: randomBytes(NONCE_BYTES), proof: randomBytes(PROOF_BYTES) };
}

/** `tls-server-end-point` of a certificate. Undefined: no TLS, or nobody can bind to the certificate. */
export function endPointOf(socket: ProxySocket, side: 'own' | 'peer'): Uint8Array | undefined {
  if (!isTls(socket) || !(socket instanceof nodeTls().TLSSocket)) return undefined;
  const certificate = side === 'own' ? socket.getX509Certificate()?.raw : socket.getPeerCertificate().raw;
  const name = certificate && endPointHash(certificate);
  return certificate && name && nodeCrypto().hash(name, certificate, 'buffer');
}
