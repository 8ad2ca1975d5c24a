import { expect, it } from 'vitest'
import { SourceError } from '../../../src/core/errors.ts'
import { StoreError } from '../../../query/store/errors.ts'
import type { WantedIdentity } from '../../../query/store/store.ts'
import { openStore } from '../../../query/commands/serve-query/open-store.ts'
import { logLines } from '../../support/log-lines.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { memoryStore } from '../../support/memory-store.ts'

const AWAY = new SourceError({ doing: 'ask the node', happened: 'it refuses the connection' })
const SCOPE = { addresses: [], topics: [] }

interface Case {
  /** Of the store that was made before; null: none was. */
  readonly made: number | null
  /** What the node answers, one after the other, and the last for ever. */
  readonly answers: readonly (number | Error)[]
}

const opening = ({ made, answers }: Case) => {
  const clock = manualClock()
  const { log, lines } = logLines()
  const opened: (number | null)[] = []
  let asked = 0
  const parts = {
    clock,
    scope: SCOPE,
    log,
    open: ({ chainId }: WantedIdentity) => {
      opened.push(chainId)
      const ofStore = made ?? chainId
      if (ofStore === null) {
        return Promise.reject(new StoreError('empty', { doing: 'open it', happened: 'none' }))
      }
      return Promise.resolve(memoryStore(ofStore))
    },
    readNodeChainId: () => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? AWAY
      asked += 1
      return typeof answer === 'number' ? Promise.resolve(answer) : Promise.reject(answer)
    },
  }
  return { parts, clock, lines, opened }
}

const passing = async (clock: ReturnType<typeof manualClock>, seconds: number): Promise<void> => {
  for (let each = 0; each < seconds; each += 1) await clock.advance(1000)
}
const never = new AbortController().signal

it('is opened for the chain of the node', async () => {
  const { parts, opened, lines } = opening({ made: null, answers: [143] })
  const store = await openStore(parts, never)
  expect([store?.chainId, opened, lines]).toEqual([143, [143], []])
})

it('is opened for its own chain while the node is unreachable', async () => {
  const { parts, opened, lines } = opening({ made: 143, answers: [AWAY] })
  const store = await openStore(parts, never)
  expect([store?.chainId, opened]).toEqual([143, [null]])
  expect(lines).toEqual([
    'warn could not ask the node: it refuses the connection; serving the existing store and retrying',
  ])
})

it('waits for the node if the store does not exist yet', async () => {
  const { parts, clock, opened } = opening({ made: null, answers: [AWAY, 143] })
  const found = openStore(parts, never)
  await passing(clock, 2)
  expect([(await found)?.chainId, opened]).toEqual([143, [null, 143]])
})

it('stops while it waits', async () => {
  const { parts } = opening({ made: null, answers: [AWAY] })
  const stop = new AbortController()
  const found = openStore(parts, stop.signal)
  stop.abort()
  expect(await found).toBeUndefined()
})
