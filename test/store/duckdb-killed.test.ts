import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { diceOf, randomChain } from '../support/store-cases.ts'
import { changesFrom, expectWhole, leastOf, type Left, startWriter } from './writer-process.ts'
import { injecting, requireStrace } from '../support/strace.ts'

describe('a process that is killed during a write', () => {
  it('loses no acknowledged block, and leaves no partial one', async ({ directory }) => {
    const dice = diceOf(77)
    const chain = randomChain({ seed: 77, from: 0, blocks: 3000, logs: 40 })
    let left: Left | null = null
    let kills = 0
    for (let round = 0; round < 8; round += 1) {
      const writer = await startWriter(directory)
      const changes = changesFrom(dice, chain, left).slice(0, 120)
      for (const change of changes) writer.tell(change)
      const patience = 1 + dice(9)
      await eventually(writer.done, (done) => done >= patience, { every: 1 })
      await delay(dice(15))
      await writer.kill()
      kills += Number(writer.done() < changes.length)
      const least = leastOf(changes.slice(0, writer.done()), left)
      left = await expectWhole(directory, chain)
      expect(left?.last).toBeGreaterThanOrEqual(least?.last ?? 0)
      expect(left?.first).toBeGreaterThanOrEqual(least?.first ?? 0)
    }
    // Killed at work, not afterwards.
    expect(kills).toBe(8)
  })

  it('including an append that is too large for the write-ahead log', async ({ directory }) => {
    // The engine writes this number of rows to the file before the commit.
    const chain = randomChain({ seed: 78, from: 0, blocks: 320, logs: 1700 })
    for (const patience of [300, 800, 1300]) {
      const writer = await startWriter(directory)
      writer.tell({ append: chain.slice(0, 160) })
      writer.tell({ append: chain.slice(160) })
      await eventually(writer.done, (done) => done > 0, { every: 1, within: patience }).catch(() => 0)
      await writer.kill()
      const done = writer.done()
      const left = await expectWhole(directory, chain)
      expect([null, 159, 319]).toContain(left?.last ?? null)
      expect(left?.last ?? -1).toBeGreaterThanOrEqual(done * 160 - 1)
      await rm(directory, { recursive: true })
    }
  })
})

const strace = await requireStrace()
strace('a process one of whose file calls fails', () => {
  const chain = randomChain({ seed: 79, from: 0, blocks: 200, logs: 40 })
  it.for([
    ['pwrite64', 1, 'signal=SIGKILL'],
    ['pwrite64', 4, 'signal=SIGKILL'],
    ['fsync', 1, 'signal=SIGKILL'],
    ['fsync', 3, 'signal=SIGKILL'],
    ['write', 2, 'signal=SIGKILL'],
    ['unlink', 1, 'signal=SIGKILL'],
    ['pwrite64', 2, 'error=ENOSPC'],
    ['write', 5, 'error=ENOSPC'],
    ['fsync', 2, 'error=EIO'],
  ] as const)('keeps what it has acknowledged: %s %i %s', async ([call, nth, what], { directory }) => {
    // The store exists when the call fails: making one has its own tests.
    expect(await expectWhole(directory, chain)).toBeNull()
    const file = join(directory, 'duckdb', 'logs.duckdb')
    const writer = await startWriter(directory, await injecting({ call, nth, what }, [file, `${file}.wal`]))
    const changes = changesFrom(diceOf(79), chain, null)
    for (const change of changes) writer.tell(change)
    await writer.end()
    const done = writer.done()
    expect(done, writer.output()).toBeLessThan(changes.length)
    const least = leastOf(changes.slice(0, done), null)
    const left = await expectWhole(directory, chain)
    expect(left?.last ?? -1).toBeGreaterThanOrEqual(least?.last ?? -1)
    expect(left?.first ?? 0).toBeGreaterThanOrEqual(least?.first ?? 0)
  })

  it.for([1, 3])('resumes by itself when there is space again: pwrite64 %i', async (nth, { directory }) => {
    expect(await expectWhole(directory, chain)).toBeNull()
    const file = join(directory, 'duckdb', 'logs.duckdb')
    const injected = await injecting({ call: 'pwrite64', nth, what: 'error=ENOSPC' }, [file])
    const writer = await startWriter(directory, injected, { again: true })
    for (let at = 0; at < chain.length; at += 50) {
      writer.tell({ append: chain.slice(at, at + 50) })
      writer.tell({ prune: at + 20 })
    }
    await writer.end()
    expect(writer.output()).toContain('refused unavailable for now\n')
    expect(writer.done(), writer.output()).toBe(8)
    expect(await expectWhole(directory, chain)).toMatchObject({ first: 170, last: 199 })
  })
})
