// The store as one member reaches it. While the member is cut off, every call answers as in an outage of the store,
// which the other members do not see.
import type { Store } from './store.ts';

export type StoreLink = Omit<Store, 'holder' | 'setOutage' | 'close'>;

export function linkTo(store: Store, isCut: () => boolean): StoreLink {
  return {
    scope: store.scope,
    read: () => (isCut() ? undefined : store.read()),
    acquire: (...lock) => (isCut() ? 'down' : store.acquire(...lock)),
    refresh: (...lock) => (isCut() ? 'down' : store.refresh(...lock)),
    release: (name) => !isCut() && store.release(name),
    publish: (...lease) => !isCut() && store.publish(...lease),
    recordPosition: (position) => !isCut() && store.recordPosition(position),
    writeHistory: (history) => !isCut() && store.writeHistory(history),
    writeConfig: (config) => !isCut() && store.writeConfig(config),
    writeSwitchover: (switchover) => !isCut() && store.writeSwitchover(switchover),
    writeSync: (sync) => !isCut() && store.writeSync(sync),
    watch: (listener) =>
      store.watch(() => {
        if (!isCut()) listener();
      }),
  };
}
