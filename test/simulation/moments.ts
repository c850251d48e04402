// The moments at which clients do something out of turn: anywhere, while they are held, parked, or in a transaction.
import type { Client } from './clients/client.ts';
import type { Scene, TimedEvent } from './scene/scene.ts';

/** Between two looks. Milliseconds. */
const LOOK_MS = 40;

/** Calls `act` once, with a client in the stage that `choice` says. Returns the end of the wait for it. */
export function atMoment(scene: Scene, choice: number, act: (client: Client) => void): () => void {
  const look = LOOKS[choice % LOOKS.length] ?? anybody;
  let isOver = false;
  let seen = scene.events.length;
  const again = (): void => {
    if (isOver) return;
    const client = look(scene, choice, scene.events.slice(seen));
    seen = scene.events.length;
    if (client === undefined) scene.world.schedule(LOOK_MS, again);
    else act(client);
  };
  again();
  return () => {
    isOver = true;
  };
}

/** `news`: the events since the last look. */
type Look = (scene: Scene, choice: number, news: readonly TimedEvent[]) => Client | undefined;

const anybody: Look = (scene, choice) => scene.client(choice);

const inTransaction: Look = (scene) => scene.clients.find((client) => client.isInTransaction());

const LOOKS: readonly Look[] = [anybody, inTransaction, clientWith('hold_started'), clientWith('session_parked')];

function clientWith(kind: 'hold_started' | 'session_parked'): Look {
  return (scene, _, news) => {
    const found = news.find(({ event }) => event.kind === kind);
    if (found === undefined || found.event.kind !== kind) return undefined;
    const { run, event } = found;
    const accepted = scene.events.find(
      (one) => one.run === run && one.event.kind === 'client_accepted' && one.event.session === event.session,
    );
    if (accepted?.event.kind !== 'client_accepted') return undefined;
    const { client } = accepted.event;
    return scene.clients.find(({ address }) => client.startsWith(address));
  };
}
