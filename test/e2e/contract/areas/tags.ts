// Tags: `noloadbalance`, and custom ones as filters of the health checks.
import { expect } from 'vitest';
import type { ItemId } from '../../../support/contract/checklist.ts';
import type { Area } from '../../../support/contract/contract.ts';

const FILTERED = ['/replica', '/read-only', '/asynchronous', '/async', '/health'];
const PROBES = ['/liveness', '/readiness'];

const IGNORING: readonly (readonly [string, ItemId])[] = [
  ['/', 'tag.ignored./'],
  ['/primary', 'tag.ignored./primary'],
  ['/read-write', 'tag.ignored./read-write'],
  ['/leader', 'tag.ignored./leader'],
];

export const tags: Area = {
  name: 'tags',
  define: (contract) => {
    contract(
      ['tags.noloadbalance', 'health.rule-3', 'error.503.health', 'node.tags', 'cluster.member.tags'],
      'noloadbalance: 503 at /replica and the paths built on it; the node itself is healthy',
      async (on) => {
        const [first, second] = await on.replicas();
        expect(await on.status(first, '/replica')).toBe(200);
        await on.withTags(first, { noloadbalance: true }, async () => {
          for (const path of ['/replica', '/read-only', '/asynchronous', '/async']) {
            expect(`${path} ${await on.status(first, path)}`).toBe(`${path} 503`);
            expect(`${path} ${await on.status(second, path)}`).toBe(`${path} 200`);
          }
          expect(await on.status(first, '/health')).toBe(200);
          expect((await on.node(first))['tags']).toEqual({ noloadbalance: true });
          await on.until('tag in /cluster', async () => 'tags' in (await on.entry(first.name)));
          expect((await on.entry(first.name))['tags']).toEqual({ noloadbalance: true });
          expect(await on.entry(second.name)).not.toHaveProperty('tags');
        });
        expect(await on.status(first, '/replica')).toBe(200);
      },
    );

    contract(
      [
        'tags.custom',
        'tag.equal',
        'tag.different',
        'tag.missing',
        'tag.health-endpoints',
        'tag.health-endpoints.probes',
      ],
      'tag_<key>: 200 for an equal value, 503 for another one and for an undefined tag',
      async (on) => {
        const [first] = await on.replicas();
        await on.withTags(first, { zone: 'eu-1', shelf: 7 }, async () => {
          const statuses = (path: string) =>
            Promise.all(
              ['tag_zone=eu-1', 'tag_zone=eu-2', 'tag_room=eu-1'].map((query) => on.status(first, `${path}?${query}`)),
            );
          for (const path of FILTERED) expect([path, ...(await statuses(path))]).toEqual([path, 200, 503, 503]);
          const ofProbes = await Promise.all(PROBES.map(statuses));
          const contractual = [
            [200, 503, 503],
            [200, 503, 503],
          ];
          expect(ofProbes).toEqual(on.expected('tag.health-endpoints.probes', contractual));
          expect(await on.status(first, '/replica?tag_zone=eu-1&tag_shelf=7')).toBe(200);
          expect(await on.status(first, '/replica?tag_zone=eu-1&tag_shelf=8')).toBe(503);
        });
      },
    );

    contract('tag.equal', 'a non-string value equals its text; HEAD and OPTIONS filter, too', async (on) => {
      const [first] = await on.replicas();
      await on.withTags(first, { archive: true }, async () => {
        expect(await on.status(first, '/replica?tag_archive=true', 'HEAD')).toBe(200);
        expect(await on.status(first, '/replica?tag_archive=false', 'OPTIONS')).toBe(503);
      });
    });

    for (const [path, item] of IGNORING) {
      contract(item, `${path} ignores tags`, async (on) => {
        const leader = await on.leader();
        expect(await on.status(leader, `${path}?tag_zone=nowhere`)).toBe(200);
      });
    }

    contract('parameters.combined', 'lag and a tag: both conditions must be met', async (on) => {
      const [first] = await on.replicas();
      await on.withTags(first, { zone: 'eu-1' }, async () => {
        expect(await on.status(first, '/replica?lag=16MB&tag_zone=eu-1')).toBe(200);
        expect(await on.status(first, '/replica?lag=16MB&tag_zone=eu-2')).toBe(503);
      });
    });
  },
};
