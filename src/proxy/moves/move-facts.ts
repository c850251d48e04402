// The facts of a session that are known without a question, for the decision whether it can move.
import type { MoveFacts } from '../../core/movable.ts';
import { startupParameters } from '../../wire/startup/startup.ts';
import type { Interposed } from './interposed.ts';
import type { MovableInputs } from './moving-host.ts';

export function factsOf({ mover, packet }: MovableInputs, interposed: Interposed): MoveFacts {
  const loginRole = roleOf(packet);
  return {
    isReadable: interposed.session()?.activity() !== undefined,
    isReplication: startupParameters(packet).has('replication'),
    isRoleConfigured: mover.isRoleConfigured(loginRole),
    loginFault: interposed.isLoggingIn() ? undefined : mover.verifiers.loginFault(interposed.login().login),
    ...interposed.memory.facts(),
    areSettingsListed: mover.areSettingsListed(),
    loginRole,
  };
}

/** PostgreSQL cuts longer names (NAMEDATALEN). Bytes. */
const LONGEST_NAME = 63;

/** The role in a startup packet, as the server reads it. */
export function roleOf(packet: Uint8Array): string {
  const role = startupParameters(packet).get('user') ?? '';
  return role.length <= LONGEST_NAME / 3 ? role : Buffer.from(role).subarray(0, LONGEST_NAME).toString();
}
