// `pointsman healthcheck` as a separate program, for container health checks: it takes a quarter of the CPU time.
import { parseArgs } from 'node:util';
import { argv, env, exit, stderr, stdout } from 'node:process';
import { healthcheck } from './cli/healthcheck.ts';
import { EXIT } from './cli/io.ts';

const io = {
  env,
  stdout: (text: string) => void stdout.write(text),
  stderr: (text: string) => void stderr.write(text),
};

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

exit(await main());
