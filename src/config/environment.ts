/** The environment of the process. No other module reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env

/** The default configuration file. Every command without another file reads it. */
export const INSTALLED_CONFIG = '/etc/chain-agent/config.yaml'
