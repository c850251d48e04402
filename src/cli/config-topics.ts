// The topics of `pointsman config`. The command itself is loaded when it is used.

export const CONFIG_TOPICS = ['print', 'schema', 'reference', 'example'] as const;
export type ConfigTopic = (typeof CONFIG_TOPICS)[number];
