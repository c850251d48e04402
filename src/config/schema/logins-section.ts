// The section `logins`: clients that bind their login to a certificate, while TLS ends at Pointsman.
import { z } from 'zod';
import type { LoginsPolicy } from '../../model/logins.ts';
import { key } from './key.ts';
import { verifierPolicy, verifiers, type ParsedMoves } from './moves-section.ts';
import { nonEmpty } from './values.ts';

export const logins = z.strictObject({
  roles: key(
    z.array(nonEmpty).min(1, { error: 'is empty, so no login could bind: name at least one role' }),
    'The roles that may bind, with `*` for any characters. Their verifiers are read at the login, and not kept.',
    { example: '[app, "svc_*"]' },
  ),
  verifiers: key(verifiers.optional(), 'Where Pointsman reads the verifiers: from the member of the session.', {
    usual: 'those of `moves.verifiers`',
    example: '{ user: pointsman_lookup, password_file: /run/secrets/pointsman-lookup }',
  }),
});

type ParsedLogins = z.output<typeof logins>;

export function loginsPolicy({ roles, verifiers: own }: ParsedLogins, moves: ParsedMoves | undefined): LoginsPolicy {
  const source = own ?? moves?.verifiers;
  if (source === undefined) throw new Error('logins without verifiers');
  return { roles, verifiers: verifierPolicy(source) };
}
