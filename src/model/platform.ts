// How commands reach the model platform. The running proxy never does.

/** `general`: a version of a skill may be `latest`. `beta`: it is a Unix epoch, and each call has the beta value. */
export const SKILL_DIALECTS = ['general', 'beta'] as const;
export type SkillDialect = (typeof SKILL_DIALECTS)[number];

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
