// The section `platform`: how commands reach a model platform. Names that its interface leaves open are keys here.
import { z } from 'zod';
import { SKILL_DIALECTS, type SkillDialect } from '../../model/skill-dialect.ts';
import { key } from './key.ts';
import { baseUrl, choice, matching, nonEmpty } from './values.ts';

export interface PlatformPolicy {
  /** The address before `/v1`. */
  readonly url: string;
  /** Holds the value of the header `authHeader`. */
  readonly apiKeyFile: string;
  readonly authHeader: string;
  /** Further headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the header with the beta values. */
  readonly betaHeader: string;
  readonly skills: {
    readonly dialect: SkillDialect;
    /** The form field of each file of a skill. */
    readonly filesField: string;
    readonly extraFields: Readonly<Record<string, string>>;
  };
  readonly files: {
    /** The form field of the file. */
    readonly field: string;
    readonly extraFields: Readonly<Record<string, string>>;
  };
}

const headerName = matching('the name of a header, such as x-api-key', /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/);
const headerValue = matching(
  'the value of a header on one line, in quotes if it is a number',
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
);
/** A quote or a line break would end the name in the form. */
const fieldName = matching('the name of a form field', /^[^"\\\p{Cc}]{1,128}$/u);
const extraFields = z.record(fieldName, matching('text, in quotes if it is a number', /^[^\0]*$/)).prefault({});

const EXTRA = 'Further fields of the form, by name, for a platform that asks for them. They are no secrets.';

const skills = z.strictObject({
  dialect: key(
    choice(SKILL_DIALECTS).default('general'),
    `How versions are addressed. \`general\`: by the version, or \`latest\`. \`beta\`: by a Unix epoch, and each request
    has the beta value of skills.`,
  ),
  files_field: key(
    fieldName.prefault('files[]'),
    'The form field that carries each file of a skill, by the documents of the platform.',
  ),
  extra_fields: key(extraFields, EXTRA, { example: '{ display_title: Runbook }' }),
});

const files = z.strictObject({
  field: key(fieldName.prefault('file'), 'The form field that carries the file, by the documents of the platform.'),
  extra_fields: key(extraFields, EXTRA, { example: '{ purpose: incident }' }),
});

export const platform = z.strictObject({
  url: key(baseUrl, 'The base URL of the platform. Pointsman appends `/v1`.', { example: 'https://platform.internal' }),
  api_key_file: key(
    nonEmpty,
    `A file that holds the value of \`auth_header\`, on one line. It is read at each request. Commands alone read it, so
    it can be a file of the person that runs them.`,
    { example: '/run/secrets/platform' },
  ),
  auth_header: key(
    headerName.prefault('x-api-key'),
    'The header that carries the key, by the documents of the platform.',
  ),
  headers: key(
    z.record(headerName, headerValue).prefault({}),
    'Further headers of each request, such as the version of the interface. They are shown, so no secret belongs here.',
    { example: '{ x-version: "2026-01-01" }' },
  ),
  beta_header: key(
    headerName,
    'The header that carries the beta values, by the documents of the platform. Pointsman knows the values.',
    { example: 'vendor-beta' },
  ),
  skills: key(skills.prefault({}), 'Requests about skills.'),
  files: key(files.prefault({}), 'Uploads of files.'),
});

export type ParsedPlatform = z.output<typeof platform>;

export function platformPolicy(parsed: ParsedPlatform): PlatformPolicy {
  return {
    url: parsed.url,
    apiKeyFile: parsed.api_key_file,
    authHeader: parsed.auth_header,
    headers: parsed.headers,
    betaHeader: parsed.beta_header,
    skills: {
      dialect: parsed.skills.dialect,
      filesField: parsed.skills.files_field,
      extraFields: parsed.skills.extra_fields,
    },
    files: { field: parsed.files.field, extraFields: parsed.files.extra_fields },
  };
}
