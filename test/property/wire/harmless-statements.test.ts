// A text without telling words is not taken apart. It must be one of which nothing would have been found.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { effectOfText } from '../../../src/wire/follow/statement-effect.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import { StatementTexts } from '../../../src/wire/follow/statement-texts.ts';
import { StatementWatch } from '../../../src/wire/follow/statement-watch.ts';
import { TransactionWatch } from '../../../src/wire/follow/transaction-watch.ts';

const WORDS = `select insert into update delete from where set reset session local discard all prepare p as
  deallocate listen unlisten declare close create alter drop load do call nextval setval set_config setseed
  advisory pg_advisory_lock dblink dblink_connect lo_import begin start transaction commit end rollback abort
  savepoint release to show work true false null now() version() pg_backend_pid() pg_catalog.now() current_user
  current_database() session_user user values pg_backup_start( pg_replication_origin_session_setup(
  pg_create_physical_replication_slot execute language plpgsql u&"a" a.b app.tenant time zone order by limit
  offset 5 -1 1.5 * ( ) , = || $$ $1 'x' 'set' E'a\\' "q" ; ;; -- /* */`;
const pieces = fc.constantFrom(...WORDS.split(/\s+/), '\n', '\t', ' ', 'é', '\u00a0', "'", 'İ', 'x', '1');
const glue = fc.constantFrom(' ', ' ', ' ', '', '\n', '  ');
const folded = fc.tuple(pieces, fc.boolean()).map(([word, isUpper]) => (isUpper ? word.toUpperCase() : word));
const statements = fc
  .array(fc.tuple(folded, glue), { maxLength: 8 })
  .map((parts) => parts.map(([word, between]) => word + between).join(''));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(`${text}\0`);

it('a harmless text has the effect that its words have, ends no transaction, and names nothing', () => {
  let harmless = 0;
  fc.assert(
    fc.property(statements, (text) => {
      const bytes = bytesOf(text);
      for (const isSystemFirst of [true, false]) {
        const watch = new StatementWatch();
        watch.forget(isSystemFirst);
        if (!watch.queries(bytes, 0, bytes.length)) return;
        expect(watch.effect()).toBe(effectOfText(text, isSystemFirst));
      }
      harmless += 1;
      const transaction = new TransactionWatch();
      transaction.reads(text);
      expect(transaction.isVoid(() => undefined)).toBe(true);
      expect(factsOf(inParts(bytes))).toEqual(factsOf(new StatementTexts()));
    }),
    { numRuns: 3_000 },
  );
  expect(harmless).toBeGreaterThan(200);
});

it('a memory with a watch finds the same in the texts as one without', () => {
  fc.assert(
    fc.property(fc.array(statements, { maxLength: 4 }), (texts) => {
      const watched = new SessionMemory();
      watched.watch = new StatementWatch();
      const plain = new SessionMemory();
      for (const bytes of texts.map(bytesOf)) {
        for (const memory of [watched, plain]) memory.queries(bytes, 0, bytes.length);
        for (const memory of [watched, plain]) memory.parses(Uint8Array.of(0, ...bytes), 0, 1 + bytes.length);
      }
      expect(watched.facts()).toEqual(plain.facts());
      expect(watched.names()).toEqual(plain.names());
    }),
    { numRuns: 500 },
  );
});

/** Only a text that comes whole is passed over. */
function inParts(bytes: Uint8Array): StatementTexts {
  const texts = new StatementTexts();
  texts.read(bytes, 0, 0);
  texts.readOn(bytes, 0, bytes.length);
  return texts;
}

function factsOf(texts: StatementTexts): unknown {
  return {
    names: texts.names(),
    hidden: texts.hiddenState(),
    computed: texts.computedName(),
    prepared: texts.preparedNames(),
    hasPrepare: texts.hasPrepare(),
    untold: texts.untoldReading(),
    changesReading: texts.changesReading(),
  };
}
