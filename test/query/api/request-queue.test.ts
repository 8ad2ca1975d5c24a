import { describe, expect, it } from 'vitest'
import { networkOf } from '../../../src/exporter/connections.ts'
import { createRequestQueue } from '../../../query/service/api/request-queue.ts'
import { manualClock } from '../../support/manual-clock.ts'

/** A limit of two with a queue of two; the test ends each work item. The client is the first letter of the name. */
const createBusy = () => {
  const clock = manualClock()
  const queue = createRequestQueue({ concurrent: 2, waiting: 2, waitMs: 100 }, clock)
  const said: string[] = []
  const ends = new Map<string, () => void>()
  const signals = new Map<string, AbortController>()
  const come = (name: string): void => {
    const gone = new AbortController()
    signals.set(name, gone)
    const work = async (): Promise<void> => {
      said.push(`${name} in`)
      await new Promise<void>((resolve) => ends.set(name, resolve))
    }
    queue.run(work, name.slice(0, 1), gone.signal).then(
      () => said.push(`${name} out`),
      (error: unknown) => said.push(`${name} ${error instanceof Error ? error.message : ''}`),
    )
  }
  return {
    come,
    pass: async (ms: number) => clock.advance(ms),
    end: async (name: string) => {
      ends.get(name)?.()
      await clock.advance(0)
    },
    leave: async (name: string) => {
      signals.get(name)?.abort()
      await clock.advance(0)
    },
    said: () => said.splice(0),
    hasRoom: (client: string): boolean => {
      try {
        queue.expectRoom(client)
        return true
      } catch {
        return false
      }
    },
  }
}

const REFUSED = 'too many concurrent requests'

describe('the request queue', () => {
  it('runs two, queues two in order, and rejects the next at once', async () => {
    const { come, pass, end, said } = createBusy()
    for (const name of ['a', 'b', 'c', 'd', 'e']) come(name)
    await pass(0)
    expect(said()).toEqual(['a in', 'b in', `e ${REFUSED}`])
    await end('b')
    expect(said()).toEqual(['b out', 'c in'])
    await end('a')
    await end('c')
    await end('d')
    expect(said()).toEqual(['a out', 'd in', 'c out', 'd out'])
    come('f')
    come('g')
    come('h')
    await pass(0)
    expect(said()).toEqual(['f in', 'g in'])
  })

  it('rejects a request after the wait timeout and frees its place in the queue', async () => {
    const { come, pass, end, said } = createBusy()
    for (const name of ['a', 'b', 'c']) come(name)
    await pass(60)
    come('d')
    await pass(40)
    expect(said()).toEqual(['a in', 'b in', `c ${REFUSED}`])
    come('e')
    await end('a')
    expect(said()).toEqual(['a out', 'd in'])
    await end('b')
    expect(said()).toEqual(['b out', 'e in'])
  })

  it('a client with fewer requests takes the place of the newest of the client with the most', async () => {
    const { come, pass, end, said, hasRoom } = createBusy()
    for (const name of ['a1', 'a2', 'a3', 'a4']) come(name)
    await pass(0)
    expect([hasRoom('a'), hasRoom('b')]).toEqual([false, true])
    come('a5')
    come('b1')
    await pass(0)
    expect(said()).toEqual(['a1 in', 'a2 in', `a5 ${REFUSED}`, `a4 ${REFUSED}`])
    // Each has one that waits: a further one of either would not have fewer.
    expect([hasRoom('a'), hasRoom('b'), hasRoom('c')]).toEqual([false, false, false])
    await end('a1')
    expect(said()).toEqual(['a1 out', 'b1 in'])
  })

  it('a slot is for the client with the fewest running requests, then for the longest without a turn', async () => {
    const { come, pass, end, said } = createBusy()
    for (const name of ['a1', 'b1', 'a2', 'c1']) come(name)
    await pass(0)
    await end('b1')
    // a has one running request, c has none.
    expect(said()).toEqual(['a1 in', 'b1 in', 'b1 out', 'c1 in'])
    come('d1')
    await end('a1')
    // Neither has a running one, and a had the first turn.
    expect(said()).toEqual(['a1 out', 'd1 in'])
    await end('c1')
    expect(said()).toEqual(['c1 out', 'a2 in'])
  })

  it('removes a client that disconnects while it waits', async () => {
    const { come, pass, end, leave, said } = createBusy()
    for (const name of ['a', 'b', 'c', 'd']) come(name)
    await leave('c')
    come('e')
    await pass(0)
    expect(said()).toEqual(['a in', 'b in', `c ${REFUSED}`])
    await end('a')
    await end('b')
    expect(said()).toEqual(['a out', 'd in', 'b out', 'e in'])
  })
})

it.for<readonly [string, string]>([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001::3:4:5:6:7:8', '2001:0:3:4'],
  ['::1', '0:0:0:0'],
])('the network of %s is %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network)
})
