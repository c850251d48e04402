// Requests for a login that Pointsman cannot fulfil, in words: the kinds of AuthenticationRequest.
import { MD5, SASL } from '../messages/server-messages.ts';

export const METHODS: ReadonlyMap<number, string> = new Map([
  [2, 'Kerberos'],
  [3, 'a password in plain text'],
  [MD5, 'md5'],
  [7, 'GSSAPI'],
  [9, 'SSPI'],
  [SASL, 'SASL'],
]);
