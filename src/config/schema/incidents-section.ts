// The section `incidents`: where incidents are kept, and how many.
import { z } from 'zod';
import { key } from './key.ts';
import { count, nonEmpty, size } from './values.ts';

/** One incident needs up to several hundred kilobytes. */
const LEAST_SIZE = 1024 ** 2;
const MOST_KEPT = 10_000;

export const incidents = z.strictObject({
  directory: key(
    nonEmpty.optional(),
    `A directory for one file per incident. Pointsman makes it if it is missing. If it cannot be used, Pointsman warns
    and keeps incidents in memory. Each Pointsman needs a directory of its own. \`pointsman incidents list\` reads it
    when Pointsman is dead.`,
    { example: '/var/lib/pointsman', usual: 'incidents are kept in memory, until Pointsman ends', needsRestart: true },
  ),
  max_size: key(
    size(LEAST_SIZE).prefault('16MB'),
    'The size of all incidents together, in the directory or in memory. The oldest are removed first.',
    { needsRestart: true },
  ),
  keep: key(
    count(1, MOST_KEPT).default(50),
    'So many incidents at most, in memory ten of them. The oldest are removed first.',
    {
      needsRestart: true,
    },
  ),
});
