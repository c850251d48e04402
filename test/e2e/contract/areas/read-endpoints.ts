// The documents of the read endpoints, field by field, in an ordinary cluster.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { ItemId } from '../../../support/contract/checklist.ts';
import type { Area, Contract } from '../../../support/contract/contract.ts';
import { list, parse, record, sorted, typeName } from '../../../support/contract/questions.ts';

const INDICATORS = ['cluster_unlocked', 'failsafe_mode_is_active', 'pause'];
const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;
const LSN = /^[0-9A-F]+\/[0-9A-F]+$/i;

const FIELDS_OF_A_MEMBER = [
  ['name', 'string'],
  ['api_url', 'string'],
  ['host', 'string'],
  ['port', 'integer'],
  ['timeline', 'integer'],
] as const;
const LAGS = ['receive_lag', 'replay_lag', 'lag'] as const;
const LSNS = ['receive_lsn', 'replay_lsn', 'lsn'] as const;

export const readEndpoints: Area = {
  name: 'read endpoints',
  define: (contract) => {
    defineNodeStatus(contract);
    defineClusterDocument(contract);
    defineConfiguration(contract);
    defineMetrics(contract);
    defineClient(contract);
    defineSafety(contract);
  },
};

function defineNodeStatus(contract: Contract): void {
  contract(
    ['read./manager', 'node.state', 'service.every-node'],
    'every member serves its own document with the state running',
    async (on) => {
      for (const member of on.target.members()) {
        expect((await on.node(member))['state']).toBe('running');
      }
    },
  );

  contract('node.postmaster_start_time', 'the start time of the server with an offset from UTC', async (on) => {
    for (const member of on.target.members()) {
      const text = String((await on.node(member))['postmaster_start_time']);
      expect(text).toMatch(ISO_WITH_OFFSET);
      const epoch = Number(await on.sql(member, 'select extract(epoch from pg_postmaster_start_time())'));
      expect(Date.parse(text) / 1000).toBeCloseTo(epoch, 1);
    }
  });

  contract('node.role', 'primary on the primary, replica on the others', async (on) => {
    expect((await on.node(await on.leader()))['role']).toBe(on.expected('node.role', 'primary'));
    for (const replica of await on.replicas()) expect((await on.node(replica))['role']).toBe('replica');
  });

  contract(['node.server_version', 'version.server'], "PostgreSQL's server_version_num", async (on) => {
    const leader = await on.leader();
    expect((await on.node(leader))['server_version']).toBe(
      await on.sql(leader, "select current_setting('server_version_num')::int"),
    );
  });

  contract(['node.xlog', 'node.xlog.replica'], 'location is a WAL position in bytes', async (on) => {
    const leader = await on.leader();
    const before = Number(await on.sql(leader, "select pg_current_wal_flush_lsn() - '0/0'"));
    const location = record((await on.node(leader))['xlog'])['location'];
    expect(typeName(location)).toBe('integer');
    expect(Number(location)).toBeGreaterThanOrEqual(before);
    for (const replica of await on.replicas()) {
      const own = record((await on.node(replica))['xlog'])['location'];
      expect(typeName(own)).toBe(on.expected('node.xlog.replica', 'integer'));
    }
  });

  contract('node.timeline', 'the same on every member', async (on) => {
    const timeline = await on.sql(await on.leader(), 'select timeline_id from pg_control_checkpoint()');
    for (const member of on.target.members()) expect((await on.node(member))['timeline']).toBe(timeline);
  });

  contract('node.replication', 'one entry per connected member: application_name, state, sync_state', async (on) => {
    const entries = list((await on.node(await on.leader()))['replication']).map(record);
    const shown = entries.map(({ application_name: name, state, sync_state: sync }) => [name, state, sync]);
    const names = (await on.replicas()).map(({ name }) => name);
    expect(sorted(shown)).toEqual(sorted(names.map((name) => [name, 'streaming', 'async'])));
  });

  contract('node.dcs_last_seen', 'recent epoch seconds', async (on) => {
    const seen = (await on.node(await on.leader()))['dcs_last_seen'];
    expect(typeName(seen)).toBe('integer');
    expect(Math.abs(Date.now() / 1000 - Number(seen))).toBeLessThan(15);
  });

  contract('node.database_system_identifier', "PostgreSQL's own, a string of digits, on every member", async (on) => {
    const text = await on.sql(await on.leader(), 'select system_identifier::text from pg_control_system()');
    expect(text).toMatch(/^\d+$/);
    for (const member of on.target.members()) {
      expect((await on.node(member))['database_system_identifier']).toBe(text);
    }
  });

  contract(['node.manager', 'version.manager'], 'version and scope', async (on) => {
    const own = record((await on.node(await on.leader()))[on.target.documentKey]);
    expect(own['version']).toMatch(/^\d+\.\d+\.\d+/);
    expect(own['scope']).toBe(on.target.scope);
  });

  contract('node.ordinary', 'no indicator in the ordinary state', async (on) => {
    for (const member of on.target.members()) {
      const document = await on.node(member);
      expect(INDICATORS.filter((key) => key in document)).toEqual([]);
    }
  });
}

function defineClusterDocument(contract: Contract): void {
  contract(['read./cluster', 'cluster.members'], 'every member returns the same ones', async (on) => {
    const names = on.target.members().map(({ name }) => name);
    for (const member of on.target.members()) {
      const document = record(parse(await on.ask(member, '/cluster')));
      const listed = list(document['members']).map((entry) => record(entry)['name']);
      expect(sorted(listed)).toEqual(sorted(names));
      expect(document).not.toHaveProperty('scheduled_switchover');
    }
  });

  contract('cluster.scope', 'the name of the cluster', async (on) => {
    expect((await on.cluster())['scope'] ?? 'absent').toBe(on.expected('cluster.scope', on.target.scope));
  });

  for (const [name, type] of FIELDS_OF_A_MEMBER) {
    contract(`cluster.member.${name}`, `member ${name}: ${type}`, async (on) => {
      for (const member of on.target.members()) {
        const value = (await on.entry(member.name))[name];
        expect(typeName(value)).toBe(type);
        if (name === 'host') expect(value).toBe(member.host);
        if (name === 'port') expect(value).toBe(member.port);
        if (name === 'api_url') expect(value).toBe(`${member.api}${on.target.statusPath}`);
        if (name === 'timeline') expect(value).toBe((await on.node(member))['timeline']);
      }
    });
  }

  contract('cluster.member.role', 'leader, or replica for the other members', async (on) => {
    expect((await on.entry((await on.leader()).name))['role']).toBe('leader');
    for (const { name } of await on.replicas()) expect((await on.entry(name))['role']).toBe('replica');
  });

  contract('cluster.member.state', 'running for the leader, streaming for a replica that streams', async (on) => {
    expect((await on.entry((await on.leader()).name))['state']).toBe('running');
    for (const { name } of await on.replicas()) {
      expect((await on.entry(name))['state']).toBe(on.expected('cluster.member.state', 'streaming'));
    }
  });

  for (const name of [...LAGS, ...LSNS]) {
    const item: ItemId = `cluster.member.${name}`;
    const isLsn = LSNS.some((lsn) => lsn === name);
    contract(item, `${name}: of replicas only, ${isLsn ? '<hex>/<hex>' : 'a number'}`, async (on) => {
      expect(await on.entry((await on.leader()).name)).not.toHaveProperty(name);
      const value = (await on.entry((await on.replicas())[0].name))[name];
      const type = isLsn && LSN.test(String(value)) ? 'LSN' : typeName(value);
      expect(type).toBe(on.expected(item, isLsn ? 'LSN' : 'integer'));
    });
  }
}

function defineConfiguration(contract: Contract): void {
  contract('read./config', 'the same from every member', async (on) => {
    const config = await on.config();
    for (const member of on.target.members()) expect(parse(await on.ask(member, '/config'))).toEqual(config);
  });

  for (const key of ['ttl', 'loop_wait', 'retry_timeout', 'maximum_lag_on_failover'] as const) {
    contract(`config.${key}`, `${key}: integer`, async (on) => {
      expect(typeName((await on.config())[key])).toBe('integer');
    });
  }

  contract('config.use_pg_rewind', 'postgresql.use_pg_rewind: boolean', async (on) => {
    expect(typeName(record((await on.config())['postgresql'])['use_pg_rewind'])).toBe('boolean');
  });

  contract('config.parameters', 'postgresql.parameters: a map; a value given as string stays one', async (on) => {
    const postgresql = record((await on.config())['postgresql']);
    expect(typeName(postgresql['parameters'])).toBe('object');
    await on.withConfig({ postgresql: { parameters: { work_mem: '5MB' } } }, async () => {
      const parameters = record(record((await on.config())['postgresql'])['parameters']);
      expect(parameters).toMatchObject({ ...record(postgresql['parameters']), work_mem: '5MB' });
      const applied = async () => (await on.sql(await on.leader(), "select current_setting('work_mem')")) === '5MB';
      await on.until('applied without a restart', applied);
    });
  });
}

function defineMetrics(contract: Contract): void {
  contract(
    ['read./metrics', 'metrics.primary', 'metrics.postgres_running'],
    'primary and postgres_running, in the text exposition format',
    async (on) => {
      const { metricsPrefix: prefix } = on.target;
      const leader = await on.leader();
      for (const member of on.target.members()) {
        const { contentType, text } = await on.ask(member, '/metrics');
        expect(contentType).toContain('text/plain');
        for (const line of text.trimEnd().split('\n')) {
          // Patroni writes a blank before the labels of one metric.
          expect(line).toMatch(/^(|# (HELP|TYPE) \S+ .+|[a-z_]+ ?(\{[^}]*\})? [-+.\deE]+|[a-z_]+ [-+.\deE]+)$/);
        }
        const valueOf = (name: string) => new RegExp(`^${prefix}_${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1];
        expect(Number(valueOf('primary'))).toBe(member.name === leader.name ? 1 : 0);
        expect(Number(valueOf('postgres_running'))).toBe(1);
      }
    },
  );
}

function defineClient(contract: Contract): void {
  contract(
    ['read./cluster', 'read./history', 'read./config'],
    "the program's own client reads the same",
    async (on) => {
      const control = await on.control();
      const [leader, config] = [await on.leader(), await on.config()];
      expect(await control.config()).toEqual({ kind: 'read', value: config });
      const report = await control.report();
      expect(report).toMatchObject({ value: { leader: leader.name, paused: false, refused_members: [] } });
      const entries = report.kind === 'read' ? report.value.members : [];
      expect(entries.map(({ name }) => name).toSorted()).toEqual(sortedNames(on.target.members()));
      for (const { name, api, host, port } of on.target.members()) {
        const entry = await on.entry(name);
        const wanted = { api, postgres: `${host}:${port}`, role: entry['role'], timeline: entry['timeline'] };
        expect(entries.find((one) => one.name === name)).toMatchObject(wanted);
      }
      const documents = list(parse(await on.ask(leader, '/history')));
      const history = await control.history();
      expect(history.kind === 'read' && history.value.length).toBe(documents.length);
    },
  );
}

function sortedNames(members: readonly MemberAddress[]): readonly string[] {
  return members.map(({ name }) => name).toSorted();
}

function defineSafety(contract: Contract): void {
  contract(
    ['authentication.get', 'service.get-is-safe'],
    'every GET answers without authentication and has no effect',
    async (on) => {
      const [leader, [first]] = [await on.leader(), await on.replicas()];
      const picture = async () => ({
        config: await on.config(),
        history: parse(await on.ask(leader, '/history')),
        leader: (await on.leader()).name,
        started: await Promise.all(
          [leader, first].map(async (member) => (await on.node(member))['postmaster_start_time']),
        ),
      });
      const before = await picture();
      const reads = [on.target.statusPath, '/cluster', '/history', '/config', '/metrics'];
      for (const member of [leader, first]) {
        for (const path of reads) expect(`${path} ${await on.status(member, path)}`).toBe(`${path} 200`);
      }
      // A GET of an operation's path does not start the operation.
      for (const path of ['/switchover', '/failover', '/restart', '/reload', '/reinitialize']) {
        expect([401, 403]).not.toContain(await on.status(leader, path));
      }
      expect(await picture()).toEqual(before);
    },
  );
}
