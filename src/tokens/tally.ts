import { STATS, type Stat } from './types.ts'

/** How often each oddity was met. */
export class Tally {
  readonly #counts = new Map<Stat, number>(STATS.map((stat) => [stat, 0]))

  note(stat: Stat, times = 1): void {
    this.#counts.set(stat, this.of(stat) + times)
  }

  of(stat: Stat): number {
    return this.#counts.get(stat) ?? 0
  }

  addAll(other: Tally): void {
    for (const stat of STATS) this.note(stat, other.of(stat))
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
