// The values of `log.level` and `log.format`, for the file and for the command line.

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export const ACCESS_LOGS = ['off', 'closed', 'all'] as const;
export type AccessLog = (typeof ACCESS_LOGS)[number];
