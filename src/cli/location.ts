// The options that locate a running Pointsman: flags, and words for the help.
export const LOCATION = {
  config: ['-c, --config <file>', 'the configuration file (YAML)'],
  admin: ['--admin <address>', 'HOST:PORT or URL of the running Pointsman (default: admin.address)'],
} as const;
