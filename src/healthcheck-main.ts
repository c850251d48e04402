// `pointsman healthcheck` as a separate program, for container health checks: it takes a quarter of the CPU time.
import { parseArgs } from 'node:util';
import { argv, env, exit, stderr, stdout } from 'node:process';
import { commandOutput } from './app/command-output.ts';
import { healthcheck } from './cli/healthcheck.ts';
import { EXIT } from './cli/io.ts';

const { finish, ...streams } = commandOutput({ stdout, stderr });
const io = { env, ...streams };

async function main(): Promise<number> {
  try {
    const options = {
      config: { type: 'string', short: 'c' },
      admin: { type: 'string' },
      live: { type: 'boolean' },
    } as const;
    return await healthcheck(parseArgs({ args: argv.slice(2), options }).values, io);
  } catch (error) {
    io.stderr(`pointsman: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.usage;
  }
}

exit(await finish(await main()));
