// The faults: each changes a scene, and has an end.
import type { Scene } from './scene/scene.ts';
import { STALL_MS, type FaultKind, type PlannedFault } from './scene/plan.ts';
import { SILENCE_GRACE_MS } from './scene/site.ts';
import type { Tags } from './cluster/store.ts';
import { atMoment } from './moments.ts';
import { freezeInSwitchover, order, restart, switchOver, type Hit } from './orders.ts';
import type { Host } from './world/world.ts';
import type { ClusterMember } from './cluster/cluster.ts';

type Begin = (hit: Hit) => (() => void) | void;

const FAULTS: Readonly<Record<FaultKind, Begin>> = {
  'host crashes': ({ member }) => {
    member.crash();
    return () => member.boot();
  },
  'postgres is killed': ({ member }) => member.server.kill(),
  'both are killed': ({ member }) => {
    member.manager.kill();
    member.server.kill();
    return () => member.manager.start();
  },
  'postgres freezes': ({ member }) => {
    member.server.freeze();
    return () => member.server.thaw();
  },
  'manager is killed': ({ member }) => {
    member.manager.kill();
    return () => member.manager.start();
  },
  'manager freezes': ({ member }) => {
    member.manager.freeze();
    return () => member.manager.thaw();
  },
  'host freezes': ({ member }) => {
    member.host.freeze();
    return () => member.host.thaw();
  },
  'member is cut off': (hit) => cutOff(hit, true, true),
  'member hears nothing': (hit) => cutOff(hit, true, false),
  'member is not heard': (hit) => cutOff(hit, false, true),
  'member loses the store': ({ scene, member }) => cut(scene, member, [scene.cluster.storeService.host]),
  'pointsman loses a member': ({ scene, member, site }) => cut(scene, member, [site.host]),
  'store is down': ({ scene }) => {
    scene.cluster.storeService.kill();
    return () => scene.cluster.storeService.start();
  },
  'lock is lost': ({ scene }) => scene.cluster.store.loseLock(),
  'switchover by the API': (hit) => order(hit, '/switchover'),
  'switchover by pointsman': ({ scene, site, fault }) => switchOver(scene, site, fault),
  'restart by the API': (hit) => order(hit, '/restart'),
  'cluster pauses': ({ scene }) => {
    scene.cluster.store.patch({ pause: true });
    return () => void scene.cluster.store.patch({ pause: null });
  },
  'api is late': (hit) => apiFault(hit, { kind: 'late', ms: 100 + (hit.fault.variant % 1_500) }),
  'api is silent': (hit) => apiFault(hit, { kind: 'silent' }),
  'api is silent for long': (hit) => apiFault(hit, { kind: 'silent' }),
  'api is garbage': (hit) => apiFault(hit, { kind: hit.fault.variant % 2 === 0 ? 'garbage' : 'error' }),
  // On no timeline of its own: that would keep the true primary out for 30 s (guarantees.md).
  'member claims to lead': ({ scene, member, fault }) => {
    const highest = Math.max(...scene.cluster.members.map(({ server }) => server.timeline()));
    return member.claimToLead(Math.max(1, highest - (fault.variant % 2)));
  },
  'another cluster has its address': ({ scene, member }) => scene.cluster.replace(member.name),
  'primary dies ahead of its replicas': (hit) => {
    const { scene, member, fault } = hit;
    const { network } = scene.world;
    const replicas = scene.cluster.members.filter((other) => other !== member);
    for (const { host } of replicas) network.cut(member.host, host);
    let isOver = false;
    scene.world.schedule(1_000 + (fault.variant % 4_000), () => {
      if (isOver) return;
      if (fault.variant % 2 === 0) return member.crash();
      member.manager.kill();
      member.server.kill();
    });
    return () => {
      isOver = true;
      for (const { host } of replicas) network.heal(member.host, host);
      if (fault.variant % 2 === 0) member.boot();
      else member.manager.start();
    };
  },
  'an old primary returns, and the new one is silent': ({ scene, fault }) => {
    const leader = scene.member(undefined);
    const others = scene.cluster.members.filter((other) => other !== leader);
    const old = others[fault.variant % others.length];
    leader.manager.api.fault = { kind: 'silent' };
    const end = old?.claimToLead(Math.max(1, leader.server.timeline() - 1));
    return () => {
      leader.manager.api.fault = undefined;
      end?.();
    };
  },
  'promotions are slow': ({ scene, fault }) => {
    const paces = scene.cluster.members.map(({ server }) => server.pace);
    for (const pace of paces) pace.promotionMs = 500 + (fault.variant % 4_000);
    return () => {
      for (const pace of paces) pace.promotionMs = 150;
    };
  },
  'replay is slow': ({ member, fault }) => {
    member.server.pace.replayMs = 100 + (fault.variant % 3_000);
    return () => void (member.server.pace.replayMs = 1);
  },
  'wall clock steps': ({ member, site, fault }) => {
    const host = fault.variant % 3 === 0 ? site.host : member.host;
    host.stepWallClock((fault.variant % 2 === 0 ? 1 : -1) * (fault.variant % 600_000));
  },
  'clock drifts': ({ member, site, fault }) => {
    const host = fault.variant % 3 === 0 ? site.host : member.host;
    host.driftAt(1 + ((fault.variant % 41) - 20) / 1_000);
    return () => host.driftAt(1);
  },
  'replay pauses': ({ scene, fault }) => {
    const member = scene.member(fault.member ?? fault.variant);
    member.server.pauseReplay(true);
    return () => member.server.pauseReplay(false);
  },
  'client vanishes': ({ scene, fault }) => scene.client(fault.variant).vanish(),
  'pointsman freezes': ({ site: { host } }) => {
    host.freeze();
    return () => host.thaw();
  },
  // The age of the last yes ends the sessions of the primary in the middle of it, and clients go on writing.
  'pointsman stalls at the end of a grace': (hit) => {
    const { scene, site, fault } = hit;
    const end = apiFault(hit, { kind: 'silent' });
    const thaw = (): void => site.host.thaw();
    const beginMs = SILENCE_GRACE_MS - 1_500 + (fault.variant % 400);
    const stalls = scene.world.schedule(beginMs, () => site.host.freeze());
    const goesOn = scene.world.schedule(beginMs + STALL_MS, thaw);
    return () => {
      stalls();
      goesOn();
      thaw();
      end();
    };
  },
  'pointsman is killed': ({ scene, site }) => {
    if (site.pointsman.isKilled) return;
    // Another one that hands over to it is on the same host.
    const running = scene.pointsmen.filter((one) => one.host === site.host && one.stoppedAt === undefined);
    for (const pointsman of running) if (!pointsman.isKilled) pointsman.kill();
    return () => void site.start();
  },
  'pointsman hands over': ({ scene, site }) => {
    const before = site.pointsman;
    if (scene.plan.shape.workers > 1 || before.isKilled) return;
    site.start();
    scene.world.schedule(1_500, () => void before.drain());
  },
  // Its PostgreSQL goes on, and takes writes.
  'paused primary loses its lock': ({ scene }) => {
    const { store } = scene.cluster;
    const { manager } = scene.member(undefined);
    const before = manager.tags;
    store.patch({ pause: true });
    manager.tags = { ...before, nofailover: true };
    store.loseLock();
    return () => {
      manager.tags = before;
      store.patch({ pause: null });
    };
  },
  'switchovers by two pointsmen': ({ scene, site, fault }) => {
    switchOver(scene, site, fault);
    const other = scene.sites.find((one) => one !== site);
    if (other !== undefined) scene.world.schedule(fault.variant % 2_000, () => switchOver(scene, other, fault));
  },
  'primary freezes while one pointsman switches over and another one restarts it': (hit) => {
    const { scene, site, fault } = hit;
    const { name } = scene.member(undefined);
    restart(scene, site.pointsman, name);
    const other = scene.sites.find((one) => one !== site) ?? site;
    const lateMs = 20 + (fault.variant % 300);
    return freezeInSwitchover({ ...hit, site: other }, { lateMs, transactionMs: 100, lockMs: 0 });
  },
  // Its PostgreSQL goes on, and takes writes beside the next primary: the lock is lost before its time.
  'primary freezes in a switchover': (hit) => freezeInSwitchover(hit, { lockMs: hit.fault.variant % 3_000 }),
  'pointsman loses all members': ({ scene, site }) => cutAll(scene, site.host, scene.cluster.members),
  'pointsmen hear different members': ({ scene, site, member, fault }) => {
    const rest = scene.cluster.members.filter((other) => other !== member);
    const ends = scene.sites.map((one) =>
      cutAll(scene, one.host, (one === site) === (fault.variant % 2 === 0) ? [member] : rest),
    );
    return () => {
      for (const end of ends) end();
    };
  },
  'api is silent to a pointsman': (hit) => apiFault(hit, { kind: 'silent', to: hit.site.host.address }),
  'pointsman reloads': ({ site, fault }) => {
    site.reload(fault.variant);
    return () => site.reload(undefined);
  },
  'restart by pointsman': ({ scene, member, site: { pointsman } }) => restart(scene, pointsman, member.name),
  'tags change': ({ member: { manager }, fault }) => {
    const before = manager.tags;
    const changes: readonly Tags[] = [{ nofailover: true }, { noloadbalance: true }, { reads: 'no' }];
    manager.tags = { ...before, ...changes[fault.variant % changes.length] };
    return () => void (manager.tags = before);
  },
  'client half-closes': ({ scene, fault }) => atMoment(scene, fault.variant, (client) => client.halfClose()),
  'client resets': ({ scene, fault }) => atMoment(scene, fault.variant, (client) => client.reset()),
  'client cancels whatever it does': ({ scene, fault }) =>
    atMoment(scene, fault.variant, (client) => {
      client.cancel('session');
      scene.world.schedule(fault.variant % 300, () => client.cancel(fault.variant % 3 ? 'session' : 'session before'));
    }),
  'connection is torn in an answer': ({ member, fault }) => member.server.tearSession(fault.variant),
  'member leaves': ({ member }) => {
    member.leave();
    return () => member.manager.start();
  },
  'member has a new address': ({ scene, member, fault }) => {
    if (scene.cluster.strangers.length > 0) return;
    const { host } = member;
    for (const witness of scene.witnesses) witness.forget(host.address);
    member.crash();
    const number = 1 + (fault.variant % 50) + 60 * scene.cluster.members.indexOf(member);
    scene.world.network.move(host, `10.0.1.${number}`);
    return () => member.boot();
  },
  'connections run out': ({ member: { server } }) => {
    const before = server.maxConnections;
    server.maxConnections = server.sessions().length;
    return () => void (server.maxConnections = before);
  },
};

/** Returns the end of the fault, to be called once. */
export function beginFault(scene: Scene, fault: PlannedFault): () => void {
  const member = scene.member(fault.member);
  scene.world.note(`fault: ${fault.kind} (${member.name}) for ${fault.forMs.toFixed(0)} ms`);
  // By other digits than the rest of the variant.
  const site = scene.site(Math.floor(fault.variant / 7));
  const end = FAULTS[fault.kind]({ scene, member, site, fault });
  return () => {
    scene.world.note(`fault is over: ${fault.kind} (${member.name})`);
    end?.();
  };
}

function others({ scene, member }: Hit): readonly Host[] {
  const { cluster } = scene;
  const rest = cluster.members.filter((other) => other !== member).map(({ host }) => host);
  return [...rest, cluster.storeService.host, ...scene.sites.map(({ host }) => host)];
}

function cutOff(hit: Hit, hears: boolean, isHeard: boolean): () => void {
  const { network } = hit.scene.world;
  const hosts = others(hit);
  for (const host of hosts) {
    if (hears) network.cut(host, hit.member.host);
    if (isHeard) network.cut(hit.member.host, host);
  }
  return () => {
    for (const host of hosts) {
      network.heal(host, hit.member.host);
      network.heal(hit.member.host, host);
    }
  };
}

function cutAll(scene: Scene, host: Host, members: readonly ClusterMember[]): () => void {
  const ends = members.map((member) => cut(scene, member, [host]));
  return () => {
    for (const end of ends) end();
  };
}

function cut({ world }: Scene, member: ClusterMember, hosts: readonly Host[]): () => void {
  for (const host of hosts) {
    world.network.cut(host, member.host);
    world.network.cut(member.host, host);
  }
  return () => {
    for (const host of hosts) {
      world.network.heal(host, member.host);
      world.network.heal(member.host, host);
    }
  };
}

function apiFault({ member }: Hit, fault: NonNullable<ClusterMember['manager']['api']['fault']>): () => void {
  member.manager.api.fault = fault;
  return () => void (member.manager.api.fault = undefined);
}
