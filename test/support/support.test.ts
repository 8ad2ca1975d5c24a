import { pbkdf2 } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './directory.ts'
import { eventually } from './eventually.ts'
import { createInFlight } from './manual-clock.ts'
import { parseExposition } from './scrape.ts'

const derive = promisify(pbkdf2)
const directory = await temporaryFolder()

describe('eventually', () => {
  it('returns what it waited for', async () => {
    let looks = 0
    const look = (): number => (looks += 1)
    expect(await eventually(look, (seen) => seen === 3, { every: 1 })).toBe(3)
  })

  it('shows what it saw last when the wait was in vain', async () => {
    const wait = eventually(
      () => ({ height: 7 }),
      ({ height }) => height > 7,
      { within: 5, every: 1 },
    )
    await expect(wait).rejects.toThrow(/height > 7\nlast seen: \{ height: 7 \}/)
  })

  it('shows the error of a connection', async () => {
    const look = (): never => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
    }
    const wait = eventually(look, true, { within: 5, every: 1 })
    await expect(wait).rejects.toThrow(/looking threw: TypeError: fetch failed/)
  })

  it('throws another error at once', async () => {
    const look = (): unknown => JSON.parse('<html>')
    await expect(eventually(look, true)).rejects.toThrow(SyntaxError)
  })
})

describe('before a manual clock moves', () => {
  it('a file that is being closed is closed; until then the event loop sleeps', async () => {
    const file = await open(join(directory, 'file'), 'w')
    // All four threads of the pool are busy for many turns of the event loop.
    const busy = Array.from({ length: 4 }, async () => derive('password', 'salt', 100_000, 64, 'sha512'))
    let isClosed = false
    const closing = file.close().then(() => {
      isClosed = true
    })
    const before = performance.eventLoopUtilization()
    await createInFlight().settled()
    expect(isClosed).toBe(true)
    expect(performance.eventLoopUtilization(before).idle).toBeGreaterThan(0)
    await Promise.all([closing, ...busy])
  })
})

describe('parseExposition', () => {
  const { value } = parseExposition('height{tag="latest",note="b"} 12\nheight{tag="safe"} 1e3\n')

  it('finds the one series that fits, and refuses to choose between two', () => {
    expect(value('height', { tag: 'latest' })).toBe(12)
    expect(value('height', { note: 'b' })).toBe(12)
    expect(value('height', { tag: 'finalized' })).toBe(undefined)
    expect(value('down')).toBe(undefined)
    expect(() => value('height')).toThrow('2 series fit height{}; name more labels')
  })

  it('refuses a line that it does not understand', () => {
    expect(() => parseExposition('up 1\nup zero\n')).toThrow('not exposition text: up zero')
  })
})
