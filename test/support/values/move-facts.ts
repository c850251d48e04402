// The facts of a session before its server is asked.
import type { MoveFacts } from '../../../src/core/movability.ts';

/** The facts of a session that nothing but its state keeps. */
export const FACTS: MoveFacts = {
  isReadable: true,
  isReplication: false,
  isRoleConfigured: true,
  loginFault: undefined,
  isUnnamedTooLong: false,
  isUnnamedInDoubt: false,
  hiddenState: undefined,
  changedReading: [],
  preparedNames: ['p', 'q', 'Weird ü'],
  unsureUnnamed: undefined,
  areSettingsListed: false,
  loginRole: 'app',
};
