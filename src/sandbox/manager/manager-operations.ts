// The manager's operations for the API (operation-outcomes.ts), each delegated to its file.
import { patched, replaced } from './config-change.ts';
import type { ConfigChange } from './config-change.ts';
import type { Manager } from './manager.ts';
import type { ConfigOutcome, OperationOutcome, Operations } from './operation-outcomes.ts';
import { reinitialize } from './reinitialize.ts';
import { cancelRestart, restart, scheduleRestart } from './restart.ts';
import { cancelSwitchover, failover, switchover } from './switchover-on-request.ts';
import type { JsonObject } from './view.ts';

export function createOperations(manager: Manager): Operations {
  return {
    pulse: () => Promise.resolve(manager.pulse()),
    look: () => manager.look(),
    readCluster: () => Promise.resolve(manager.store.read()),
    patchConfig: (changes) => Promise.resolve(changeConfig(manager, (config) => patched(config, changes))),
    putConfig: (config) => Promise.resolve(changeConfig(manager, () => replaced(config))),
    switchover: (request) => switchover(manager, request),
    cancelSwitchover: () => Promise.resolve(cancelSwitchover(manager)),
    failover: ({ candidate }) => failover(manager, candidate),
    restart: (conditions) => restart(manager, conditions),
    scheduleRestart: (conditions, { text }) => scheduleRestart(manager, conditions, text),
    cancelRestart: () => Promise.resolve(cancelRestart(manager)),
    reload: () => reload(manager),
    reinitialize: (options) => reinitialize(manager, options),
  };
}

/** Every manager sees the change in the store and applies it in a heartbeat that starts at once. */
function changeConfig({ store }: Manager, change: (config: JsonObject) => ConfigChange): ConfigOutcome {
  const cluster = store.read();
  if (cluster === undefined) return { kind: 'failed', text: 'the configuration store does not answer' };
  const changed = change(cluster.config);
  if (changed.kind === 'invalid') return changed;
  store.writeConfig(changed.config);
  return { kind: 'done', config: changed.config };
}

async function reload(manager: Manager): Promise<OperationOutcome> {
  const why = await manager.readFile();
  if (why !== undefined) return { kind: 'failed', text: why };
  await manager.instance.configure(manager.parameters());
  manager.publish();
  manager.heartbeat.poke();
  return { kind: 'done', text: 'reloaded' };
}
