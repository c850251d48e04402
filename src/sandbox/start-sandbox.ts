// Starts the sandbox: servers, one store, and a manager with its API for each server. After any failure the started
// parts are ended again, and the directory is removed.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { WAL_ARCHIVE, startBranches } from './branches/start-branches.ts';
import { ClusterMember, type MemberSetup } from './cluster-member.ts';
import { patched } from './manager/config-change.ts';
import type { ManagerEvent } from './manager/managed-member.ts';
import { createAskPeers } from './manager/peers.ts';
import { positionOf } from './manager/postgres-report.ts';
import { DEFAULT_CONFIG, readSettings } from './manager/cluster-settings.ts';
import { Store } from './manager/store.ts';
import type { JsonObject } from './manager/view.ts';
import { Network } from './network.ts';
import { startPlatform } from './platform/start-platform.ts';
import { takeFreePort } from './postgres/free-ports.ts';
import { preparePostgres, type PreparedServers } from './postgres/prepare.ts';
import type { PostgresServer } from './postgres/postgres-server.ts';
import { createSandbox, type RunningSandbox } from './running-sandbox.ts';
import type { Sandbox, SandboxEvent, SandboxOptions } from './sandbox.ts';
import { setUpLookup, setUpQuestions } from './set-up-roles.ts';

/** Easy to type. The role is no superuser, and the servers listen on loopback only. */
const APP = { user: 'app', password: 'app', database: 'app' };
const START_WITHIN_MS = 60_000;
const ASK_AGAIN_MS = 20;
const LOOK_WITHIN_MS = 1_000;

/** Resolves with a healthy sandbox. Rejects with a message for people. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { members = 3, dialect = 'manager', scope = 'sandbox', onEvent = () => {} } = options;
  if (!Number.isInteger(members) || members < 1)
    throw new Error(`the number of members must be 1 or more, not ${members}`);
  const config = initialConfig(options.config ?? {});
  const directory = await makeDirectory(options.directory);
  const names = Array.from({ length: members }, (_, index) => `pg-${index + 1}`);
  const onProgress = (text: string): void => onEvent({ kind: 'progress', text });
  const prepared = await preparePostgres({
    directory,
    names,
    postgres: options.postgres ?? 'embedded',
    ...(options.initialize && { initialize: options.initialize }),
    ...(options.branches === true ? { walArchive: WAL_ARCHIVE } : {}),
    tls: options.tls === true,
    onProgress,
  }).catch(async (error: unknown) => {
    // A given directory may contain another program's files.
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    throw error;
  });
  const store = new Store(scope, config);
  const sandbox = createSandbox({ directory, app: APP, store, prepared });
  const tell = clusterEvents(store, (event) => {
    if (!sandbox.isStopping()) onEvent(event);
  });
  try {
    sandbox.machines.push(...(await makeMembers(prepared, directory, { store, dialect, onEvent: tell })));
    await bringUp(sandbox, store, options);
    if (options.branches === true) {
      sandbox.branches = await startBranches({ directory, prepared, primary: () => sandbox.primary(), onEvent });
    }
    if (options.platform === true) sandbox.platform = await startPlatform(join(directory, 'platform'), onEvent);
    onProgress(`${names.length} members are up, ${sandbox.leader()?.name ?? 'no member'} is the leader`);
    return sandbox;
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** Takes the events of the managers. The same leader is reported once. */
function clusterEvents(store: Store, tell: (event: SandboxEvent) => void): (event: ManagerEvent) => void {
  let told: string | undefined;
  const tellLeader = (text: string): void => {
    if (told !== text) tell({ kind: 'leader_changed', text });
    told = text;
  };
  store.watch(() => {
    if (store.holder() === undefined) tellLeader('no member holds the leader lock');
  });
  return (event) => {
    if (event.kind !== 'leads') tell(event);
    else tellLeader(`${event.member} holds the leader lock, timeline ${event.timeline}`);
  };
}

function initialConfig(changes: Readonly<Record<string, unknown>>): JsonObject {
  const given = z.record(z.string(), z.json()).safeParse(changes);
  if (!given.success) throw new Error('the configuration is not valid: it is not a JSON object');
  const config = patched(DEFAULT_CONFIG, given.data);
  if (config.kind !== 'done') throw new Error(`the configuration is not valid: ${config.text}`);
  return config.config;
}

async function makeDirectory(given: string | undefined): Promise<string> {
  if (given === undefined) return mkdtemp(join(tmpdir(), 'pointsman-sandbox-'));
  const directory = resolve(given);
  await mkdir(directory, { recursive: true });
  return directory;
}

async function makeMembers(
  { servers, systemIdentifier }: PreparedServers,
  directory: string,
  shared: Pick<MemberSetup, 'store' | 'dialect' | 'onEvent'>,
): Promise<readonly ClusterMember[]> {
  const askPeers = createAskPeers(shared.dialect);
  const network = new Network();
  const made: ClusterMember[] = [];
  for (const server of servers) {
    made.push(
      new ClusterMember({
        ...shared,
        name: server.name,
        server,
        systemIdentifier,
        askPeers,
        network,
        serverOf: (name) => servers.find((one) => one.name === name),
        filePath: join(directory, `${server.name}.yml`),
        apiPort: await takeFreePort(),
      }),
    );
  }
  return made;
}

/** The first member leads: it has the lock before any heartbeat begins, so that all servers can start at once. */
async function bringUp(sandbox: RunningSandbox, store: Store, { lookup, questions }: SandboxOptions): Promise<void> {
  const [first, ...standbys] = sandbox.machines;
  if (first === undefined) return;
  const settings = readSettings(store.read()?.config ?? {});
  const isPrimary = settings.standbyCluster === undefined;
  store.acquire(first.name, settings.ttlMs);
  await first.bringUp(isPrimary ? 'primary' : 'replica');
  await Promise.all(standbys.map((member) => member.bringUp('replica')));
  const endsAt = performance.now() + START_WITHIN_MS;
  // The lock of the first may end before it is up, where the machine stands still: then another one leads.
  let leader = first;
  await until(endsAt, async () => {
    leader = sandbox.machines.find(({ name }) => isPrimary && name === store.holder()) ?? first;
    const view = await leader.look(LOOK_WITHIN_MS);
    const isUp = view?.state === 'running' && (view.role === 'primary' || !isPrimary);
    return isUp ? undefined : `${leader.name} is not up`;
  });
  if (isPrimary) await createApp(leader.server, sandbox.app);
  if (isPrimary && lookup === true)
    sandbox.lookup = await setUpLookup(leader.server, sandbox.app.user, sandbox.directory);
  if (isPrimary && questions === true) sandbox.questions = await setUpQuestions(leader.server, sandbox.directory);
  const written = (await leader.look(LOOK_WITHIN_MS))?.wal;
  await until(endsAt, () => sandbox.whyUnhealthy());
  // So that a reader of the application's database finds it on a standby.
  if (written === undefined) return;
  const others = sandbox.machines.filter((member) => member !== leader);
  await Promise.all(others.map((member) => until(endsAt, () => whyBehind(member, positionOf(written)))));
}

/** An ordinary role with its own database. */
async function createApp(server: PostgresServer, { user, password, database }: Sandbox['app']): Promise<void> {
  await server.query(`create role ${user} login password '${password}'`);
  await server.query(`create database ${database} owner ${user}`, [], 20_000);
}

async function whyBehind(member: ClusterMember, position: number): Promise<string | undefined> {
  const wal = (await member.look(LOOK_WITHIN_MS))?.wal;
  return wal?.kind === 'replica' && wal.replayed >= position ? undefined : `${member.name} has not replayed everything`;
}

/** Checks again until there is no problem. */
async function until(endsAt: number, why: () => Promise<string | undefined>): Promise<void> {
  for (let reason = await why(); reason !== undefined; reason = await why()) {
    if (performance.now() > endsAt) throw new Error(`the sandbox did not come up: ${reason}`);
    await delay(ASK_AGAIN_MS);
  }
}
