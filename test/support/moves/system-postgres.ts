// Whether the machine has a PostgreSQL of its own, besides the one of the sandbox.
import { choicesHere } from '../sandbox/postgres.ts';

/** For people; undefined when it is there. */
export async function whyNoSystemPostgres(): Promise<string | undefined> {
  return (await choicesHere()).includes('system') ? undefined : 'PostgreSQL: apt-get install postgresql';
}
