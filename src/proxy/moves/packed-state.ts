// The state of a session as one text, where it is kept for long: as objects it would take several times the memory.
import type { CarriedState } from '../../model/moves.ts';

/** Maps are no part of JSON. */
interface PackedFields extends Omit<CarriedState, 'settings' | 'custom' | 'reading'> {
  readonly settings: readonly (readonly [string, string])[];
  readonly custom: readonly (readonly [string, string])[];
  readonly reading: readonly (readonly [string, string])[];
}

/** The same answers of a server have the same texts. The names and the position that came along are left out. */
export function packState(state: CarriedState): string {
  const { settings, custom, reading } = state;
  const packed: PackedFields = {
    ...state,
    settings: [...settings],
    custom: [...custom],
    reading: [...reading],
    namedSettings: undefined,
    wal: undefined,
  };
  return JSON.stringify(packed);
}

/** `text`: of `packState`. */
export function unpackState(text: string): CarriedState {
  const packed: PackedFields = JSON.parse(text);
  return {
    ...packed,
    settings: new Map(packed.settings),
    custom: new Map(packed.custom),
    reading: new Map(packed.reading),
  };
}
