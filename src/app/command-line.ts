// The command line: gives the commands what they need of the process and of the other rooms.
import { setTimeout } from 'node:timers/promises';
import { checkSeeds } from './check-seeds.ts';
import { createClusterAccess } from './cluster-access.ts';
import { commandOutput, type CommandOutput } from './command-output.ts';
import type { CliIo, SandboxParts } from '../cli/io.ts';
import type { Clock } from '../model/instant.ts';
import type { CliParts } from '../cli/parts.ts';
import { runCli } from '../cli/program.ts';
import { version } from './package.ts';
import { runApp } from './run-app.ts';
import { TRAFFIC, VERBS } from '../sandbox/console/verb-list.ts';
import type { Terminal } from '../sandbox/console/sandbox-screen.ts';
import { createSystemClock } from './system-clock.ts';
import { terminalIo } from './terminal-io.ts';

/** `process`: the program's own. It exits with the command's exit code. */
export async function commandLine(process: NodeJS.Process): Promise<never> {
  const clock = createSystemClock(process.hrtime);
  const output = commandOutput(process);
  const { finish, ...streams } = output;
  const io: CliIo = { env: process.env, ...streams, ...terminalIo(process) };
  const parts: CliParts = {
    runApp: (start) => runApp(process, clock, start),
    checkSeeds: (config) => checkSeeds(config, clock),
    sandbox: sandboxParts(process, output, clock),
    cluster: {
      openCluster: (cluster) => createClusterAccess(cluster, { clock, tell: () => {}, onHint: () => {} }).control(),
      now: () => new Date(),
      sleep: async (ms) => setTimeout(ms),
    },
    others: async () => (await import('./other-commands.ts')).otherCommands(clock),
    version,
  };
  const code = await finish(await runCli(process.argv.slice(2), io, parts));
  // Unfinished work, such as a name lookup, must not keep the process alive.
  return process.exit(code);
}

/** On demand: a proxy that serves does not need it. */
const loadSandbox = () => import('../sandbox/run-sandbox.ts');

function sandboxParts(process: NodeJS.Process, output: CommandOutput, clock: Clock): SandboxParts {
  const isSource = import.meta.url.endsWith('.ts');
  const command = isSource ? 'npm run -s sandbox --' : 'pointsman sandbox';
  const program = isSource ? 'npm run -s pointsman --' : 'pointsman';
  return {
    verbs: [...VERBS, TRAFFIC],
    run: async (request) => {
      const { runSandbox } = await loadSandbox();
      const terminal = terminalOf(process, output);
      return runSandbox({ request, terminal, clock, version, nodeVersion: process.version, command, program });
    },
    ask: async (...order) => (await loadSandbox()).askSandbox(...order),
    sql: async (...statement) => (await loadSandbox()).sandboxSql(...statement),
    config: async (control) => (await loadSandbox()).sandboxConfig(control),
  };
}

function terminalOf(process: NodeJS.Process, output: CommandOutput): Terminal {
  const { stdin, stdout } = process;
  return {
    write: output.stdout,
    columns: () => stdout.columns || 80,
    colour: stdout.isTTY && stdout.hasColors(),
    onKey: stdin.isTTY
      ? (listener) => {
          stdin.setRawMode(true).on('data', (data) => {
            const keys = data.toString();
            // A key such as an arrow is a sequence that begins with ESC.
            if (!keys.startsWith('\u001b')) Array.from(keys).forEach(listener);
          });
        }
      : undefined,
    onEnd: (listener) => {
      process.on('SIGTERM', listener).on('SIGINT', listener).on('SIGHUP', listener);
      output.onOutputLost(listener);
    },
  };
}
