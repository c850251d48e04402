import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { rangeBelowEphemeral, takeFreePort } from '../../../../src/sandbox/postgres/free-ports.ts';

test('the range ends below the ephemeral one', () => {
  expect(rangeBelowEphemeral('32768\t60999\n')).toEqual({ from: 20_000, to: 32_768 });
  expect(rangeBelowEphemeral('16000 65535')).toEqual({ from: 10_000, to: 16_000 });
  expect(rangeBelowEphemeral(undefined)).toEqual({ from: 20_000, to: 32_768 });
  // Without room below, the ephemeral ports are used after all.
  expect(rangeBelowEphemeral('1024 65535')).toEqual({ from: 20_000, to: 32_768 });
  expect(rangeBelowEphemeral('nonsense')).toEqual({ from: 20_000, to: 32_768 });
});

test('no port is given out twice, even by concurrent calls', async () => {
  const range = { from: 500, to: 510 };
  const ports = await Promise.all(Array.from({ length: 5 }, () => takeFreePort({ range, isFree: async () => true })));
  expect(new Set(ports).size).toBe(5);
  expect(ports.every((port) => port >= 500 && port < 510)).toBe(true);
});

test('a port with a listener is passed over', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(takeFreePort({ range: { from: port, to: port + 1 } })).rejects.toThrow('no free port');
  await new Promise((resolve) => server.close(resolve));
});
