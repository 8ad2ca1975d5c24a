/** The environment of the process; no other module reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env

/** The configuration file of an installed agent, read by every command that is given no other. */
export const INSTALLED_CONFIG = '/etc/chain-agent/config.yaml'
