// `pointsman sandbox`: a cluster with Pointsman in front of it, in this process, until it is told to end. This file
// composes the parts. The verbs are in sandbox/console, the cluster is in the other files of sandbox/.
import { createActions, type ActionOptions } from './console/actions.ts';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp, type ComposedApp } from '../app/app.ts';
import type { Clock } from '../model/instant.ts';
import { takingTurns } from '../model/taking-turns.ts';
import { EXIT, type SandboxParts, type SandboxRequest } from '../cli/io.ts';
import { loadConfig, type LoadResult } from '../config/load.ts';
import type { Event } from '../telemetry/log-lines.ts';
import { WRITE_STATEMENT, banner } from './console/banner.ts';
import { askToPerform, askEndpoints } from './console/control-client.ts';
import { connectionUrl } from './console/connection-url.ts';
import { listenForControl, type ControlTarget } from './console/control-server.ts';
import { firstTaken } from './console/free-addresses.ts';
import { keysText } from './console/keys.ts';
import { writeWithoutPointsman } from './console/plain-client.ts';
import { pointsmanConfig, secondConfig, type RoutedSandbox } from './console/pointsman-config.ts';
import { hasPsql } from './console/psql.ts';
import { SandboxScreen, type Terminal } from './console/sandbox-screen.ts';
import { runStatement } from './console/statement.ts';
import { tableText } from './console/text-table.ts';
import { createTraffic } from './console/traffic.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';
import { startSandbox } from './start-sandbox.ts';
import { createLog } from '../telemetry/log.ts';
import { createNarration } from './narration.ts';

export interface RunSandboxOptions {
  readonly request: SandboxRequest;
  readonly terminal: Terminal;
  readonly version: string;
  readonly nodeVersion: string;
  readonly clock: Clock;
  /** The command that calls this program from a second terminal: `pointsman sandbox`. */
  readonly command: string;
  /** The command that calls the whole program: `pointsman`. */
  readonly program: string;
}

/** The application's table: every row names the member that wrote it. */
const TABLE = `create table visits (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  written_on text not null default current_setting('cluster_name')
)`;

const ELSEWHERE = '--write, --read and --admin choose other addresses (pointsman sandbox --help)';

/** Each takes two connections. */
const READ_BACK_MS = 200;

/** Members answer within a second, and the pools open at the first round. A longer start is reported as a fault. */
const OPEN_WITHIN_MS = 15_000;

/** Resolves with the exit code when every part has ended. */
export async function runSandbox(options: RunSandboxOptions): Promise<number> {
  const { request, terminal } = options;
  const ending = Promise.withResolvers<undefined>();
  terminal.onEnd(() => ending.resolve(undefined));
  const screen = new SandboxScreen(terminal);
  let controlled: ControlTarget | undefined;
  const closing: (() => Promise<void>)[] = [];
  try {
    const control = await listenForControl(request.control, () => controlled);
    closing.push(control.close);
    const taken = await firstTaken([request.write, request.read, request.admin]);
    if (taken !== undefined) throw new Error(`${taken} is in use: ${ELSEWHERE}`);
    const command = request.isUsualControl ? options.command : `${options.command} --control ${control.address}`;
    const up = await startAll({ ...options, command }, screen, closing);
    const actions = createActions({ ...up, screen, end: () => ending.resolve(undefined) });
    const { write, read, config } = up;
    controlled = {
      endpoints: () => ({ scope: up.sandbox.scope, write, read, config: config() }),
      perform: actions.perform,
    };
    screen.block(up.banner);
    if (terminal.onKey !== undefined) {
      terminal.onKey(actions.onKey);
      screen.block(`${keysText()}\n`);
    }
    await ending.promise;
    if (up.traffic.isOn()) up.traffic.stop();
    screen.status('');
    screen.line('sandbox', 'ending');
    return EXIT.ok;
  } catch (error) {
    terminal.write(`pointsman: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failure;
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

interface Up extends Omit<ActionOptions, 'screen' | 'end'> {
  readonly banner: string;
}

/**
 * Starts the cluster, then Pointsman, then creates the table. On a failure `closing` has the open parts, to be closed
 * from the end.
 */
async function startAll(
  options: RunSandboxOptions,
  screen: SandboxScreen,
  closing: (() => Promise<void>)[],
): Promise<Up> {
  const { request } = options;
  const startedAt = performance.now();
  const sandbox = await startSandbox({
    members: request.members,
    dialect: request.dialect,
    postgres: placeOf(request.postgres),
    branches: request.branches !== undefined,
    platform: request.platform !== undefined,
    lookup: hasMoves(request) || request.tls === true,
    questions: request.causalReads === true,
    tls: request.tls === true,
    onEvent: (event) => screen.line('cluster', event.text, event.kind === 'warning' ? 'warn' : undefined),
  });
  closing.push(() => sandbox.stop());
  const routed = routedOf(sandbox, request);
  const app = await putBefore(routed, options, screen);
  closing.push(() => app.stop());
  const commandsConfig = await keepConfig(sandbox, () => pointsmanConfig(routed, request), app);
  const url = (address: string): string => connectionUrl(sandbox.app, address, sandbox.tls);
  const urls = { write: url(request.write), read: url(request.read) };
  await runStatement(urls.write, TABLE);
  const { rows } = await runStatement(urls.write, 'show server_version');
  const facts = {
    ...urls,
    members: sandbox.members,
    leader: sandbox.leader()?.name,
    postgresVersion: String(rows[0]?.['server_version']),
    tookMs: performance.now() - startedAt,
    admin: request.admin,
    command: options.command,
    program: options.program,
    commandsConfig,
    hasBranches: sandbox.branches !== undefined,
    hasMoves: hasMoves(request),
    hasCausalReads: request.causalReads === true,
    platform: sandbox.platform,
    hasPsql: hasPsql(),
  };
  const traffic = createTraffic({
    ways: [
      { name: 'Pointsman', write: async () => void (await runStatement(urls.write, WRITE_STATEMENT)) },
      { name: 'libpq', write: () => writeWithoutPointsman(sandbox, WRITE_STATEMENT) },
      ...(request.causalReads === true
        ? [{ name: 'read back', write: () => readBack(urls), everyMs: READ_BACK_MS }]
        : []),
    ],
    clock: options.clock,
    onStatus: (text) => screen.status(text),
  });
  const config = (): string => secondConfig(routed, request);
  return { sandbox, ...urls, banner: banner(facts), traffic, config };
}

function routedOf(sandbox: Sandbox, request: SandboxRequest): RoutedSandbox {
  const { branches: source, platform: dialect } = request;
  const { scope, app, members, branches: from, platform: at, lookup, questions, tls } = sandbox;
  const branches = from === undefined || source === undefined ? undefined : { source, from };
  const platform = at === undefined || dialect === undefined ? undefined : { dialect, at };
  return { scope, app, members, branches, platform, lookup, questions, hasMoves: hasMoves(request), tls };
}

/** A session whose replica is late moves. */
function hasMoves({ moves, causalReads }: SandboxRequest): boolean {
  return moves === true || causalReads === true;
}

/** Writes a row, and reads it on the other port at once. Rejects when it is not there. */
async function readBack({ write, read }: Pick<ActionOptions, 'read' | 'write'>): Promise<void> {
  const { rows } = await runStatement(write, WRITE_STATEMENT);
  const found = await runStatement(read, `select from visits where id = ${Number(rows[0]?.['id'])}`);
  if (found.rowCount !== 1) throw new Error('the read misses the write before it');
}

/**
 * Writes the configuration into a file, for the commands, and again whenever a branch comes or goes. Pointsman loads it
 * then, because it has the addresses of the branches. Undefined: the sandbox has no branches, lookup role or platform.
 */
async function keepConfig(sandbox: Sandbox, config: () => string, app: ComposedApp): Promise<string | undefined> {
  if ([sandbox.branches, sandbox.platform, sandbox.lookup].every((part) => part === undefined)) return undefined;
  const file = join(sandbox.directory, 'pointsman.yaml');
  const keep = async (): Promise<string> => {
    const text = config();
    await writeFile(`${file}.tmp`, text, { mode: 0o600 });
    // A command that reads it meanwhile has the old one or the new one, and no part.
    await rename(`${file}.tmp`, file);
    return text;
  };
  const apply = async (): Promise<void> => void (await app.reload(load(await keep())));
  await keep();
  const inTurn = takingTurns();
  sandbox.branches?.onChange(() => inTurn(apply));
  return file;
}

function load(text: string): LoadResult {
  return loadConfig({ file: 'pointsman.yaml', env: {}, readFile: () => text });
}

/** Pointsman as anywhere else, but with its events on this terminal. Rejects when it cannot start. */
async function putBefore(
  routed: RoutedSandbox,
  options: RunSandboxOptions,
  screen: SandboxScreen,
): Promise<ComposedApp> {
  const { request, terminal } = options;
  const loaded = load(pointsmanConfig(routed, request));
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  const opened = Promise.withResolvers<undefined>();
  const tellEvent = createNarration({
    write: (text, level) => screen.line('pointsman', text, level),
    later: setImmediate,
  });
  const narrate = (event: Event): void => {
    if (event.kind === 'route_changed' && event.pool === 'write' && event.to.kind === 'open') opened.resolve(undefined);
    tellEvent(event);
  };
  const { log } = createLog({
    level: 'error',
    format: 'pretty',
    isTerminal: terminal.onKey !== undefined,
    destination: { write: terminal.write },
  });
  const app = createApp({ ...options, config: loaded.config, log, narrate });
  const started = await app.start();
  if (started.kind === 'failed') throw new Error(started.why);
  const tooLong = setTimeout(() => opened.reject(new Error('the write pool did not open in time')), OPEN_WITHIN_MS);
  try {
    await opened.promise;
    return app;
  } catch (error) {
    await app.stop();
    throw error;
  } finally {
    clearTimeout(tooLong);
  }
}

function placeOf(postgres: string): NonNullable<SandboxOptions['postgres']> {
  return postgres === 'embedded' || postgres === 'system' ? postgres : { binaries: postgres };
}

export const askSandbox: SandboxParts['ask'] = async (control, verb, target) => {
  const { kind, text } = await askToPerform(control, verb, target);
  return { ok: kind === 'done', isUnknown: kind === 'unknown', text };
};

export const sandboxConfig: SandboxParts['config'] = async (control) => {
  const found = await askEndpoints(control);
  return 'kind' in found ? { ok: false, text: found.text } : { ok: true, text: found.config.trimEnd() };
};

export const sandboxSql: SandboxParts['sql'] = async (control, pool, statement) => {
  const found = await askEndpoints(control);
  if ('kind' in found) return { ok: false, text: found.text };
  try {
    const { command, rowCount, rows, tookMs } = await runStatement(found[pool], statement);
    const table = rows.length === 0 ? '' : tableText(rows);
    return { ok: true, text: `${table}${command} ${rowCount} (${Math.round(tookMs)} ms, with the connect)` };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error) };
  }
};
