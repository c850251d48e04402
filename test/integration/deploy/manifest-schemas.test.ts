// The schemas for manifests find faults. A fault that they let pass would stay unnoticed.
import { expect, test } from 'vitest';
import { findFaults } from '../../support/deploy/validate-manifests.ts';

function deployment(container: Record<string, unknown>) {
  const containers = [{ name: 'a', image: 'a', ...container }];
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec };
}

test.each([
  ['nothing', deployment({}), /^$/],
  ['an unknown field', deployment({ readynessProbe: {} }), /Deployment a: .*readynessProbe/],
  ['a wrong type', deployment({ ports: [{ containerPort: '5432' }] }), /Deployment a: .*containerPort/],
  ['a wrong word', deployment({ imagePullPolicy: 'Sometimes' }), /Deployment a: .*imagePullPolicy/],
  ['a missing field', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: {} }, /selector/],
  ['an unknown kind', { apiVersion: 'apps/v1', kind: 'Deploiment', metadata: { name: 'a' } }, /no schema/],
])('%s', async (_, manifest, said) => {
  expect((await findFaults([manifest])).join('\n')).toMatch(said);
});
