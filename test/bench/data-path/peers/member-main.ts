// The management API that Pointsman asks, a process of its own: one member, the primary, whose PostgreSQL is at the port given. Tells
// its URL.
import { FakeMember } from '../../../support/fakes/fake-member.ts';

process.stdin.once('close', () => process.exit()).resume();
const member = await FakeMember.start('pg-1', { role: 'primary' });
member.set({ cluster: { members: [member.entry({ port: Number(process.argv[2]) })], scope: 'demo' } });
// It remembers every request, which nobody asks for here.
setInterval(() => {
  member.requests.length = 0;
  member.heads.length = 0;
}, 1000);
console.log(JSON.stringify({ url: member.url }));
