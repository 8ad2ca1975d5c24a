import { createHash } from 'node:crypto'

/** Beside the pictures: of each dashboard, what it was drawn from. */
export const DRAWN = 'drawn.json'

/** The dashboards whose pictures are in the documentation. */
export const DOCUMENTED = ['duties', 'fleet', 'node', 'staking']

/**
 * What makes a picture one of another dashboard: which panels there are, of which kind, and where. Numbers of limits
 * and expressions may change: who moves a limit need not draw, and the pictures are of a past that was made up.
 */
const SEEN = ['panels', 'title', 'type', 'gridPos', 'x', 'y', 'w', 'h']

/** A mark of what a picture shows of a dashboard. */
export const markOf = (dashboard: unknown): string =>
  createHash('sha256').update(JSON.stringify(dashboard, SEEN)).digest('hex').slice(0, 16)
