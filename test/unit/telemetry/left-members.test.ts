import { expect, test } from 'vitest';
import { EVENT_METRICS } from '../../../src/telemetry/event-metrics.ts';
import { createEventTotals } from '../../../src/telemetry/event-totals.ts';
import { Registry } from '../../../src/telemetry/prometheus.ts';

test('members that left the cluster leave no series behind, also without a scrape', async () => {
  const registry = new Registry();
  const metrics = createEventTotals(registry, EVENT_METRICS);
  const names = Array.from({ length: 300 }, (_, index) => `member-${index}`);
  for (const member of names) {
    metrics.count({ kind: 'members_changed', added: [member], removed: [] });
    const dial = { kind: 'dial_finished', pool: 'write', session: 1, outcome: 'refused', durationMs: 2 } as const;
    metrics.count({ ...dial, member });
    metrics.count({ kind: 'members_changed', added: [], removed: [member] });
    // A connect that was under way ends after its member has left.
    metrics.count({ ...dial, member });
  }
  const left = (await registry.metrics()).split('\n').filter((line) => line.startsWith('pointsman_dials_total{'));
  expect(left).toEqual(['pointsman_dials_total{member="member-299",outcome="refused"} 1']);
});
