// The routes of the pools after an operation, one line each.

export function poolsText(pools: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pools).map(({ length }) => length));
  return Object.entries(pools)
    .map(([pool, route]) => `  pool ${pool.padEnd(width)}  ${route}\n`)
    .join('');
}
