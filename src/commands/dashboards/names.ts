/** The dashboards that are shipped. */
export const NAMES = ['agent', 'consensus', 'duties', 'fleet', 'node', 'query-service', 'staking', 'storage'] as const
