// The benchmark's proxy, in its own process: the real one before a fixed table. It reports its processor time.
import { startProxyLab } from '../../support/labs/proxy-lab.ts';

process.on('disconnect', () => process.exit());
const lab = await startProxyLab({
  table: { read: { open: { 'pg-1': { host: '127.0.0.1', port: Number(process.argv[2]) } } } },
});
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.send?.(lab.address('read').port);
