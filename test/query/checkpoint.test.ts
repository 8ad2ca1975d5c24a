import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import {
  createCheckpointSchedule,
  identityOf,
  openCheckpoint,
  type ResumePoint,
} from '../../query/client/checkpoint.ts'
import { createFingerprint, fingerprint } from '../../src/core/hash.ts'
import { it } from '../support/directory.ts'

const MARK: ResumePoint = {
  target: 1000,
  next: 400,
  last: { block: 399, hash: '0xab' },
  output: { bytes: 7, fingerprint: 'f0', logs: 3, unrequested: 1 },
}
const IDENTITY = identityOf({ contract: '0x11', toBlock: null })
const PAYLOAD = Buffer.from([0, 10, 255, 10])

describe('a checkpoint', () => {
  it('is read as it was written', async ({ directory }) => {
    const checkpoint = openCheckpoint(join(directory, 'point'), IDENTITY)
    expect(await checkpoint.read()).toBeUndefined()
    await checkpoint.write(MARK, PAYLOAD)
    expect(await checkpoint.read()).toEqual({ mark: MARK, payload: new Uint8Array(PAYLOAD) })
    await checkpoint.write({ ...MARK, output: null })
    expect(await checkpoint.read()).toEqual({ mark: { ...MARK, output: null }, payload: new Uint8Array() })
  })

  it('is damaged after a change of any byte, if it is cut anywhere, and if it is longer', async ({ directory }) => {
    const file = join(directory, 'point')
    const checkpoint = openCheckpoint(file, IDENTITY)
    await checkpoint.write(MARK, PAYLOAD)
    const intact = await readFile(file)
    const changed = [...intact.keys()].map((at) => {
      const bytes = Buffer.from(intact)
      bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at)
      return bytes
    })
    const cut = [...intact.keys()].map((length) => intact.subarray(0, length))
    const longer = ['\n', ' ', intact.toString()].map((more) => Buffer.concat([intact, Buffer.from(more)]))
    for (const bytes of [...changed, ...cut, ...longer]) {
      await writeFile(file, bytes)
      await expect(checkpoint.read()).rejects.toThrow(
        `Could not resume from ${file}: it is damaged: it was changed or truncated\n  what to do: remove it to start again`,
      )
    }
  })

  it.for([
    ['the next block is after the end', { next: 1002, last: null }],
    ['the last block is not the one before the next', { last: { block: 400, hash: '0xab' } }],
  ] as const)('is damaged if %s', async ([, change], { directory }) => {
    const checkpoint = openCheckpoint(join(directory, 'point'), IDENTITY)
    await checkpoint.write({ ...MARK, ...change })
    await expect(checkpoint.read()).rejects.toThrow('it is damaged')
  })

  it('of another version is not resumed', async ({ directory }) => {
    const file = join(directory, 'point')
    const head = `${JSON.stringify({ version: 2, identity: IDENTITY, mark: MARK })}\n`
    await writeFile(file, `${head}${fingerprint(head)}\n`)
    await expect(openCheckpoint(file, IDENTITY).read()).rejects.toThrow('another version of this program wrote it')
  })
})

describe('the fingerprint of a content that grows', () => {
  it('is the one of the same content at once, at each step', () => {
    const growing = createFingerprint()
    const values = ['one', 'two', 'three'].map((part) => {
      growing.add(part)
      return growing.value()
    })
    expect(values).toEqual(['one', 'onetwo', 'onetwothree'].map((text) => fingerprint(text)))
    growing.clear()
    // The published digest of an empty content.
    expect(growing.value()).toBe('e3b0c44298fc1c149afbf4c8996fb924')
  })
})

const point = (next: number, hash?: string): ResumePoint => ({
  target: 1000,
  next,
  last: hash === undefined ? null : { block: next - 1, hash },
  output: null,
})

const createSchedule = ({ takes = 0 } = {}) => {
  let elapsed = 0
  const written: number[] = []
  const clock = { now: () => elapsed, elapsed: () => elapsed, sleep: () => Promise.resolve() }
  const schedule = createCheckpointSchedule({
    clock,
    height: 1000,
    write: ({ next }) => {
      written.push(next)
      elapsed += takes
      return Promise.resolve()
    },
  })
  return {
    written,
    pass: async (one: ResumePoint, after = 0): Promise<void> => {
      elapsed += after
      await schedule.beforePage(one)
      await schedule.afterPage(one)
    },
    flush: schedule.flush,
  }
}

it('writing takes a twentieth of the time; flush writes the last point', async () => {
  const { written, pass, flush } = createSchedule({ takes: 10 })
  for (const next of [1, 2, 3, 4, 5]) await pass(point(next), 100)
  // The first at once, the next 200 ms after that write.
  expect(written).toEqual([1, 3, 5])
  await pass(point(6), 0)
  await flush()
  expect(written).toEqual([1, 3, 5, 6])
})

it('a block that a reorg may replace is a resume point only with its hash', async () => {
  const { written, pass } = createSchedule()
  await pass(point(801))
  await pass(point(802))
  await pass(point(900, '0xab'))
  expect(written).toEqual([801, 900])
})

it('a settled point is written before an unsettled page is applied', async () => {
  const { written, pass, flush } = createSchedule({ takes: 10 })
  await pass(point(700))
  await pass(point(800))
  expect(written).toEqual([700])
  await pass(point(802))
  expect(written).toEqual([700, 800])
  await flush()
  expect(written).toEqual([700, 800])
})
