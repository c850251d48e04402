// The benchmark's members, in their own process: one primary and its replicas. Prints the URLs of their management
// APIs.
import { FakeMember } from '../../support/fakes/fake-member.ts';

const count = Number(process.argv[2]);
process.on('disconnect', () => process.exit());
const starting = Array.from({ length: count }, (_, index) =>
  FakeMember.start(`pg-${index + 1}`, index === 0 ? { role: 'primary' } : {}),
);
process.send?.((await Promise.all(starting)).map(({ name, address }) => ({ name, port: address.port })));
