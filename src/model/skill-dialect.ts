// How a model platform names versions of skills.

/** `general`: a version of a skill may be `latest`. `beta`: it is a Unix epoch, and each call has the beta value. */
export const SKILL_DIALECTS = ['general', 'beta'] as const;
export type SkillDialect = (typeof SKILL_DIALECTS)[number];
