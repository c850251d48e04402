// Keeps the store current: it reads /status once a second.
import type { StatusDocument } from '../../admin/schema/status.ts';
import type { Store } from './store.ts';

const INTERVAL_MS = 1000;
const DEADLINE_MS = 5000;

/** Never ends. */
export async function connect(store: Store): Promise<never> {
  for (;;) {
    await read(store);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

async function read(store: Store): Promise<void> {
  try {
    const response = await fetch('status', { signal: AbortSignal.timeout(DEADLINE_MS) });
    if (!response.ok) throw new Error(`/status answers ${response.status}`);
    const status: StatusDocument = await response.json();
    store.set({
      status,
      receivedAt: performance.now(),
      events: status.recent_events,
      connection: { kind: 'live' },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    store.set({ connection: { kind: 'lost', why } });
  }
}
