// The management API for Pointsman, in its own process: one member, the primary, with PostgreSQL at the given port.
// Prints its URL.
import { FakeMember } from '../../../support/fakes/fake-member.ts';

process.stdin.once('close', () => process.exit()).resume();
const member = await FakeMember.start('pg-1', { role: 'primary' });
member.set({ cluster: { members: [member.entry({ port: Number(process.argv[2]) })], scope: 'demo' } });
// The fake member records every request; the records would grow without a limit.
setInterval(() => {
  member.requests.length = 0;
  member.heads.length = 0;
}, 1000);
console.log(JSON.stringify({ url: member.url }));
