// The benchmark's members, a process of their own: one primary and its replicas. Tells where their management APIs are.
import { FakeMember } from '../../support/fakes/fake-member.ts';

const count = Number(process.argv[2]);
process.on('disconnect', () => process.exit());
const starting = Array.from({ length: count }, (_, index) =>
  FakeMember.start(`pg-${index + 1}`, index === 0 ? { role: 'primary' } : {}),
);
process.send?.((await Promise.all(starting)).map(({ name, address }) => ({ name, port: address.port })));
