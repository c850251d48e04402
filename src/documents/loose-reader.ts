// Reads the document of another version of Pointsman by the contract of this one, as far as it goes: unknown fields and
// new values of an enumeration pass, and a field that the other version does not have is absent.
import { z } from 'zod';

type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never;
/** An enumeration may have grown. */
type Word<T extends string> = true extends IsUnion<T> ? T | (string & {}) : T;
type Part<T, Needed> = T extends readonly (infer Item)[]
  ? readonly Loose<Item, Needed>[]
  : T extends object
    ? LooseFields<T, Needed>
    : T;
type IsCertain<T, Name, Needed> = Name extends Needed
  ? true
  : null extends T
    ? true
    : T extends readonly unknown[]
      ? true
      : string extends keyof T
        ? true
        : false;
/** `kind` tells alternatives apart, so it does not grow. */
type LooseValue<T, Name, Needed> = Name extends 'kind' ? T : Loose<T, Needed>;
type LooseFields<T, Needed> = string extends keyof T
  ? Readonly<Record<string, Loose<T[keyof T], Needed>>>
  : {
      readonly [Name in keyof T as IsCertain<T[Name], Name, Needed> extends true ? Name : never]: LooseValue<
        T[Name],
        Name,
        Needed
      >;
    } & {
      readonly [Name in keyof T as IsCertain<T[Name], Name, Needed> extends true ? never : Name]?: LooseValue<
        T[Name],
        Name,
        Needed
      >;
    };

/** The document as a reader gets it. `Needed`: the names of the fields that it cannot do without. */
export type Loose<T, Needed = string> = Word<Extract<T, string>> | Part<Exclude<T, string>, Needed>;

/** `'id name'`: both. */
type LooseWords<Text extends string> = Text extends `${infer First} ${infer Others}`
  ? First | LooseWords<Others>
  : Text;

export interface LooseReaderOptions<Needed extends string> {
  /**
   * Names of fields at any depth, one or several in each text. Without these the document is not understood. Default:
   * all that the contract requires.
   */
  readonly needed?: readonly Needed[];
  /** Without unknown fields of the answer itself, such as its version: it becomes a part of another document. */
  readonly dropsUnknown?: boolean;
}

/** A field that is not needed and absent reads as null where the contract has null, and a list as an empty one. */
export function looseReader<Schema extends z.ZodType, const Needed extends string>(
  schema: Schema,
  { needed, dropsUnknown = false }: LooseReaderOptions<Needed> = {},
): z.ZodType<Loose<z.infer<Schema>, LooseWords<Needed>>> {
  const names = needed?.flatMap((text) => text.split(' '));
  const isNeeded = (name: string): boolean => names?.includes(name) ?? true;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Loose says what loosened does
  return loosened(schema, { isNeeded, dropsUnknown }) as z.ZodType<Loose<z.infer<Schema>, LooseWords<Needed>>>;
}

interface LooseRules {
  readonly isNeeded: (name: string) => boolean;
  readonly dropsUnknown: boolean;
}

function loosened(schema: z.core.$ZodType, rules: LooseRules): z.ZodType {
  const inside = (part: z.core.$ZodType): z.ZodType => loosened(part, { ...rules, dropsUnknown: false });
  if (schema instanceof z.ZodObject) return looseObject(schema, rules);
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const { discriminator } = schema.def;
    return z.union(schema.options.map((one) => looseObject(one, rules, discriminator)));
  }
  if (schema instanceof z.ZodReadonly) return inside(schema.unwrap());
  if (schema instanceof z.ZodArray) return z.array(inside(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), inside(schema.valueType));
  if (schema instanceof z.ZodNullable) return inside(schema.unwrap()).nullable().default(null);
  if (schema instanceof z.ZodDefault) return inside(schema.unwrap()).default(schema.def.defaultValue);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional)
    return inside(schema.unwrap()).optional();
  return OPEN[schema._zod.def.type] ?? z.unknown();
}

/** The limits of a number, and the values of an enumeration, may be others by now. */
const OPEN: Readonly<Partial<Record<string, z.ZodType>>> = {
  string: z.string(),
  enum: z.string(),
  number: z.number(),
  boolean: z.boolean(),
};

function looseObject(schema: z.core.$ZodType, rules: LooseRules, discriminator?: string): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return z.unknown();
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    if (name === discriminator) return [name, field];
    const read = loosened(field, { ...rules, dropsUnknown: false });
    return [name, rules.isNeeded(name) ? read : orAbsent(read)];
  });
  const shape = Object.fromEntries(fields);
  return rules.dropsUnknown ? z.object(shape) : z.looseObject(shape);
}

/** Another version may have null where the contract has a value. */
function orAbsent(read: z.ZodType): z.ZodType {
  if (read instanceof z.ZodDefault) return read;
  const absent = read instanceof z.ZodArray ? [] : read instanceof z.ZodRecord ? {} : undefined;
  return read.nullish().transform((value) => value ?? absent);
}
