// A real server whose sessions have a state to carry, and what is done with such a session.
import { expect } from 'vitest';
import { movability } from '../../../src/core/movability.ts';
import { NOTHING_NAMED } from '../../../src/proxy/moves/named-settings.ts';
import type { CarriedState, Movability } from '../../../src/model/moves.ts';
import { SessionQuestion } from '../../../src/wire/talk/session-question.ts';
import type { QuestionOptions, StateAnswer } from '../../../src/wire/talk/session-question.ts';
import { SessionRestore } from '../../../src/wire/talk/session-restore.ts';
import type { CarriedUnnamed, RestoreResult } from '../../../src/wire/talk/session-restore.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { startLoginServer } from '../sandbox/login-server.ts';
import type { LoginServer } from '../sandbox/login-server.ts';
import type { WireClient } from '../sockets/wire-client.ts';
import { FACTS } from '../values/move-facts.ts';

/** The usual options of a question. */
export const USUAL = {
  customNames: ['app.tenant', 'app.other', 'work_mem', 'App.Mixed'],
  maxStateBytes: 65_536,
  named: NOTHING_NAMED,
};

const SETUP = [
  'create role app login',
  'create role clerk',
  'grant clerk to app',
  'create role other login',
  'create schema app authorization app',
  'create schema evil authorization app',
  "create database latin template template0 encoding 'LATIN1' locale 'C'",
  "create database ascii template template0 encoding 'SQL_ASCII' locale 'C'",
  "create function app.set_tenant(t text) returns text language sql as $$ select set_config('app.tenant', t, false) $$",
  `create function app.log_all() returns text language sql security definer as
    $$ select set_config('log_statement', 'all', false) $$`,
  'create function app.lock() returns text language sql as $$ select pg_advisory_lock(7)::text $$',
  'create function evil.never(text, text) returns boolean language sql as $$ select false $$',
  'create operator evil.= (leftarg = text, rightarg = text, function = evil.never)',
  'create operator evil.<> (leftarg = text, rightarg = text, function = evil.never)',
  'create function evil.set_config(text, text, boolean) returns text language sql as $$ select $1 $$',
  'create function evil.current_setting(text) returns text language sql as $$ select $1 $$',
  'grant all on schema evil to app, clerk',
  'create table app.visits (id int, at timestamptz)',
];

export async function ask(client: WireClient, changes: Partial<QuestionOptions> = {}): Promise<StateAnswer> {
  const question = new SessionQuestion({ ...USUAL, serverMajor: client.serverMajor, ...changes });
  const { result, toClient } = await client.drive(question.start(), withoutWarning(question));
  expect(Buffer.from(toClient).toString('latin1')).toBe('');
  return result;
}

/** A warning to us is a line in the log of the server. */
function withoutWarning<Step>(machine: { take(chunk: Uint8Array): Step }): { take(chunk: Uint8Array): Step } {
  return {
    take: (chunk) => {
      expect(Buffer.from(chunk).toString('latin1')).not.toContain('WARNING');
      return machine.take(chunk);
    },
  };
}

export async function stateOf(client: WireClient, changes: Partial<QuestionOptions> = {}): Promise<CarriedState> {
  const result = await ask(client, changes);
  if (result.kind !== 'answered') throw new Error(JSON.stringify(result));
  return result.state;
}

export async function movabilityOf(client: WireClient): Promise<Movability> {
  return movability(FACTS, await stateOf(client));
}

export async function restore(
  client: WireClient,
  state: CarriedState,
  unnamed?: CarriedUnnamed,
): Promise<RestoreResult> {
  const machine = new SessionRestore({ state, unnamed, serverMajor: client.serverMajor });
  const { result, parameters } = await client.drive(machine.start(), withoutWarning(machine));
  for (const [name, value] of parameters) client.parameters.set(name, value);
  return result;
}

/** Every role logs in without a secret. */
export async function startStateLab(choice: BinariesChoice): Promise<LoginServer> {
  const lab = await startLoginServer(choice);
  await lab.run(...SETUP);
  await lab.permit('host all all 127.0.0.1/32 trust');
  return lab;
}
