// Hosts that are gone without a word, while bytes are on the way to them. The kernel would try for 15 minutes.
import { expect } from 'vitest';
import { vanishedHosts } from '../../../support/labs/vanished-hosts.ts';
import { runInOwnNetwork, whyNoOwnNetwork } from '../../../support/processes/own-network.ts';
import { itUnless } from '../../../support/runner/unless-missing.ts';

const LIMIT_MS = 90_000;
const MAIN = new URL('../../../support/labs/vanished-hosts-main.ts', import.meta.url).pathname;

itUnless(
  whyNoOwnNetwork(),
  'G10, G11: sessions of vanished hosts end at tcp_user_timeout; a client that only reads slowly stays',
  async () => {
    const found = vanishedHosts.parse(JSON.parse(await runInOwnNetwork(MAIN, LIMIT_MS)));
    console.log('hosts that vanish, ms until their sessions end:', found);
    expect(found.reasons).toEqual(['backend_tcp_timeout', ...Array<string>(4).fill('client_tcp_timeout')]);
    expect(found.server).toBe('pointsman: the server of pool "write" has vanished (backend_tcp_timeout)');
    expect(found.triggers).toEqual(['backend_tcp_timeout']);
    expect(found.slowClients).toBe(1);
  },
  LIMIT_MS,
);
