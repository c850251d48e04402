// A configuration after the smallest PATCH between two configurations is the second one.
import { array, assert, boolean, constantFrom, dictionary, integer, letrec, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { patchBetween } from '../../../../src/cli/cluster/config-changes.ts';
import { patched } from '../../../../src/cluster/configuration-change.ts';

const scalar = oneof(integer(), boolean(), string());
const { map: configuration } = letrec<{ map: Record<string, unknown> }>((tie) => ({
  map: dictionary(
    constantFrom('a', 'b', 'c', 'd'),
    oneof({ depthSize: 'small' }, scalar, array(scalar, { maxLength: 3 }), tie('map')),
    { maxKeys: 4 },
  ),
}));

test('the smallest PATCH turns any configuration into any other', () => {
  assert(
    property(configuration, configuration, (before, after) => {
      expect(patched(before, patchBetween(before, after))).toEqual(after);
    }),
  );
});
