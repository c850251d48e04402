// The state of a session that has set nothing.
import type { CarriedState } from '../../../src/model/moves.ts';

export function aState(changes: Partial<CarriedState> = {}): CarriedState {
  return {
    settings: new Map(),
    privilegedSettings: [],
    custom: new Map(),
    namedSettings: undefined,
    unclearNames: undefined,
    prepared: [],
    reading: new Map(),
    role: 'none',
    sessionUser: 'app',
    identity: '5.10.10',
    searchPath: 'public',
    listening: [],
    holdableCursors: [],
    advisoryLocks: 0,
    temporaryObjects: 0,
    temporarySlots: 0,
    ...changes,
  };
}
