/**
 * What a ledger counts; no unusual log is ignored without being counted. Logs that were applied: `oversizeData`,
 * `unindexed`, `dirtyTopic` (an address with more than 20 bytes), `inconsistent` (the sender was not the known
 * owner), `unknownBuyer`. Logs that were not applied: `duplicate`, `removed`, `unrequested`, `wrongStandard`,
 * `malformed`. `overflow` counts balances of more than 256 bits.
 */
export const STATS = [
  'pages',
  'fastPages',
  'logs',
  'applied',
  'duplicate',
  'removed',
  'unrequested',
  'wrongStandard',
  'malformed',
  'oversizeData',
  'unindexed',
  'dirtyTopic',
  'inconsistent',
  'unknownBuyer',
  'overflow',
] as const

export type Stat = (typeof STATS)[number]

export class StatCounter {
  readonly #counts = new Map<Stat, number>(STATS.map((stat) => [stat, 0]))

  add(stat: Stat, times = 1): void {
    this.#counts.set(stat, this.of(stat) + times)
  }

  of(stat: Stat): number {
    return this.#counts.get(stat) ?? 0
  }

  addAll(other: StatCounter): void {
    for (const stat of STATS) this.add(stat, other.of(stat))
  }

  toRecord(): Readonly<Record<Stat, number>> {
    const of = (stat: Stat): number => this.of(stat)
    return {
      pages: of('pages'),
      fastPages: of('fastPages'),
      logs: of('logs'),
      applied: of('applied'),
      duplicate: of('duplicate'),
      removed: of('removed'),
      unrequested: of('unrequested'),
      wrongStandard: of('wrongStandard'),
      malformed: of('malformed'),
      oversizeData: of('oversizeData'),
      unindexed: of('unindexed'),
      dirtyTopic: of('dirtyTopic'),
      inconsistent: of('inconsistent'),
      unknownBuyer: of('unknownBuyer'),
      overflow: of('overflow'),
    }
  }
}
