// The patroni dialect for the facts of real members of version 4.1.4, against the answers of those members.
import { describe, expect, test } from 'vitest';
import { clusterDocument } from '../../../../src/sandbox/api/cluster-document.ts';
import { dialectOf } from '../../../../src/sandbox/api/dialect.ts';
import { nodeDocument } from '../../../../src/sandbox/api/node-document.ts';
import { judgePatroniHealth, judgePatroniReadiness } from '../../../../src/sandbox/api/patroni-health.ts';
import { readAllCaptures } from '../../../support/values/captures.ts';
import { clusterOfNode, holdsLock, memberOf, statusOf } from '../../../support/sandbox/api/captured-views.ts';

const PATRONI = dialectOf('patroni');
const DOCUMENTS = ['/cluster', '/history', '/config', '/failsafe', '/liveness', '/readiness', '/patroni'];

const captures = readAllCaptures().filter(
  ({ patroni, state }) => patroni === '4.1.4' && !state.startsWith('transitions-'),
);

describe.each(captures)('$state', (capture) => {
  test('node status documents are the same', () => {
    for (const answer of capture.answers) {
      const body = statusOf(answer);
      if (body === undefined) continue;
      const view = memberOf(body, clusterOfNode(capture, answer.node), holdsLock(capture, answer.node));
      const document = nodeDocument(view, body.patroni, PATRONI);
      expect(document).toEqual(body);
      expect(Object.keys(document)).toEqual(Object.keys(body));
    }
  });

  test('the cluster document is the same', () => {
    for (const answer of capture.answers) {
      if (answer.path !== '/cluster' || answer.status !== 200) continue;
      const view = clusterOfNode(capture, answer.node);
      expect(view && clusterDocument(view, PATRONI)).toEqual(answer.body);
    }
  });

  test('health checks have the same status', () => {
    for (const answer of capture.answers) {
      const body = statusOf(answer);
      const [path = '', query] = answer.path.split('?');
      if (body === undefined || DOCUMENTS.includes(path)) continue;
      const view = memberOf(body, clusterOfNode(capture, answer.node), holdsLock(capture, answer.node));
      const isYes = judgePatroniHealth(path, new URLSearchParams(query), view);
      expect(`${answer.node} ${answer.path} ${isYes ? 200 : 503}`).toBe(
        `${answer.node} ${answer.path} ${answer.status}`,
      );
    }
  });

  test('readiness has the same status', () => {
    // Here 4.1.4 also reads the leader's position from the WAL receiver; the management API has only the store's.
    if (capture.state === 'replica-lagging-at-once') return;
    for (const answer of capture.answers.filter(({ path }) => path === '/readiness')) {
      const { node } = answer;
      const body = capture.answers.filter((one) => one.node === node && one.path === '/patroni').map(statusOf)[0];
      const cluster = clusterOfNode(capture, node);
      if (body === undefined || cluster === undefined) continue;
      const isReady = judgePatroniReadiness(new URLSearchParams(), memberOf(body, cluster, holdsLock(capture, node)));
      expect(`${node} ${isReady ? 200 : 503}`).toBe(`${node} ${answer.status}`);
    }
  });
});
