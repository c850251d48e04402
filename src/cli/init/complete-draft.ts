// A running cluster completes a draft: the name of the cluster, more seeds, and the addresses that the trust rules
// would refuse. The cluster is checked as `check --live` does, until nothing is missing.
import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import { addressText } from '../../model/member.ts';
import { foundBy, refusedMembers, type CheckSeeds, type LiveReport } from '../live-check.ts';
import type { DraftSetting } from './draft.ts';
import { writeDraft, type DraftText } from './write-draft.ts';

/** More than one survives the loss of a member; more than this make the file longer without a use. */
const MOST_SEEDS = 3;
/** A member has at most two addresses with a host and a port each, so this is enough for all of them. */
const ROUNDS = 4;

export interface CompleteDraft {
  readonly settings: readonly DraftSetting[];
  readonly written: DraftText;
  /** The report of the last check; undefined: there is no valid configuration to check. */
  readonly report: LiveReport | undefined;
  /** Names of different clusters that the seeds returned. */
  readonly scopes: readonly string[];
}

/** `heading`: the first comment of the file. */
export async function completeDraft(
  given: readonly DraftSetting[],
  heading: string,
  checkSeeds: CheckSeeds,
): Promise<CompleteDraft> {
  const first = await allowed(given, heading, checkSeeds);
  const { report } = first;
  if (report === undefined || foundBy(report).length === 0 || first.scopes.length > 1) return first;
  const known = [...given, ...scopeOf(report, given)];
  const more = seedsOf(report, given);
  if (more.length === 0) return await allowed(known, heading, checkSeeds);
  // With more seeds fewer rules may be needed, so they are found anew.
  return await allowed([...known, ...more], heading, checkSeeds);
}

/** Adds to `cluster.allow` what the members need, and nothing else. */
async function allowed(
  given: readonly DraftSetting[],
  heading: string,
  checkSeeds: CheckSeeds,
): Promise<CompleteDraft> {
  let settings = given;
  for (let round = 1; ; round++) {
    const written = writeDraft(settings, heading);
    const config = written.kind === 'written' ? written.config : undefined;
    if (config === undefined) return { settings, written, report: undefined, scopes: [] };
    const report = await checkSeeds(config);
    const scopes = [...new Set(foundBy(report).flatMap(({ scope }) => scope ?? []))];
    const more = rulesFor(report, config);
    if (more.length === 0 || round === ROUNDS || scopes.length > 1) return { settings, written, report, scopes };
    settings = [...settings, ...more];
  }
}

/** The entries of `cluster.allow` that the refused members name, behind those that exist. */
function rulesFor(report: LiveReport, { cluster: { allow } }: Config): readonly DraftSetting[] {
  const settings: DraftSetting[] = [];
  const next = { networks: allow.networks.length, hosts: allow.hosts.length, ports: allow.ports.length };
  const taken = new Set<string | number>([...allow.networks, ...allow.hosts, ...allow.ports]);
  const add = (list: keyof typeof next, value: string | number, from: string): void => {
    if (taken.has(value)) return;
    taken.add(value);
    settings.push({ path: ['cluster', 'allow', list, next[list]], value, from });
    next[list] += 1;
  };
  for (const { name, remedy } of refusedMembers(report)) {
    for (const port of remedy?.ports ?? []) add('ports', port, name);
    for (const host of remedy?.hosts ?? []) add(isIP(host) === 0 ? 'hosts' : 'networks', host, name);
  }
  return settings;
}

function scopeOf(report: LiveReport, given: readonly DraftSetting[]): readonly DraftSetting[] {
  const isGiven = given.some(({ path: [section, key] }) => section === 'cluster' && key === 'scope');
  const [found] = foundBy(report);
  if (isGiven || report.scope === undefined || found === undefined) return [];
  return [{ path: ['cluster', 'scope'], value: report.scope, from: `reported by ${found.url}` }];
}

/** The APIs of other members. A name or SRV records stand for several members already. */
function seedsOf(report: LiveReport, given: readonly DraftSetting[]): readonly DraftSetting[] {
  const seeds = given.flatMap(({ path: [section, key], value }) =>
    section === 'cluster' && key === 'seeds' ? [String(value)] : [],
  );
  const found = foundBy(report);
  if (found.some(({ contactPoints }) => contactPoints.length > 1)) return [];
  const members = [...new Map(found.flatMap((seed) => seed.members).map((one) => [one.name, one])).values()];
  // The seed's own member may have another name in the document, so addresses are compared.
  const own = new Set([
    ...seeds.map((url) => url.replace(/^https?:\/\//, '')),
    ...found.flatMap(({ contactPoints }) => contactPoints),
  ]);
  const others = members.filter(
    ({ api: { url, address } }) => !own.has(addressText(address)) && !own.has(url.replace(/^https?:\/\//, '')),
  );
  const room = Math.max(0, MOST_SEEDS - seeds.length);
  return others.slice(0, room).map(({ name, api }, i) => ({
    path: ['cluster', 'seeds', seeds.length + i],
    value: api.url,
    from: name,
  }));
}
