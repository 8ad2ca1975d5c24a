import { chmod, rm, utimes } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseExaminer, createKeyExaminer, renderKeyReport } from '../../src/collectors/keys/files.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { keyFiles } from '../../src/sources/key-files.ts'
import { createKeyReport } from '../../src/sources/reports.ts'
import { createKeyDirectory } from '../support/key-files.ts'
import { manualClock } from '../support/manual-clock.ts'

const SECRET = { hex: 'beef5678'.repeat(8), word: 'CanaryOfReport5Y2k' }
/** 2026-03-01T10:00:00Z, in seconds. */
const WRITTEN = 1_772_359_200
const timing = { interval: 60_000, timeout: 10_000 }
const never = new AbortController().signal
const readPrefix = () => Promise.resolve({ word: 'zephyr', from: 'configuration' as const })

let node: Awaited<ReturnType<typeof createKeyDirectory>>
beforeEach(async () => {
  node = await createKeyDirectory(SECRET)
})
afterEach(async () => {
  await node.remove()
})

describe('the report of a privileged unit', () => {
  const reading = (clock: Clock = systemClock) =>
    chooseExaminer({
      keyFiles: {
        ...keyFiles,
        look: () => Promise.reject(new Error('the files must not be read')),
      },
      readKeyReport: createKeyReport({ reportFile: `${node.root}/report.json`, ...timing }, clock),
      readPrefix,
      places: node.places,
    })
  const examine = async () => createKeyExaminer({ files: keyFiles, readPrefix, places: node.places })(never)

  test('has the same result as a check by the agent', async () => {
    await rm(node.paths['bls keystore'])
    await chmod(node.paths['secp backup'], 0o644)
    const seen = await examine()
    await node.put(`${node.root}/report.json`, renderKeyReport(seen))
    await utimes(`${node.root}/report.json`, WRITTEN, WRITTEN)
    expect(await reading(manualClock(WRITTEN * 1000))(never)).toEqual(seen)
  })
  test('is used while it is recent: two intervals and a timeout', async () => {
    await node.put(`${node.root}/report.json`, renderKeyReport(await examine()))
    await utimes(`${node.root}/report.json`, WRITTEN, WRITTEN)
    const clock = manualClock(WRITTEN * 1000 + 130_000)
    expect(await reading(clock)(never)).toHaveLength(6)
    await clock.advance(1)
    await expect(reading(clock)(never)).rejects.toThrow('it is older than 130s')
    await rm(`${node.root}/report.json`)
    await expect(reading(clock)(never)).rejects.toThrow('chain-agent-keys.timer')
  })
  test.each(['', '{}', '{"version":2,"files":[]}', '{"version":1,"files":[{"key":"rsa"}]}'])(
    'is rejected: %j',
    async (text) => {
      await node.put(`${node.root}/report.json`, text)
      await expect(reading()(never)).rejects.toThrow('the output of chain-agent keys-report')
    },
  )
  test('is not quoted if a key file is configured by mistake', async () => {
    await node.put(`${node.root}/report.json`, `a plain horse ${node.contents.backup}`)
    const error = await reading()(never).then(() => '', String)
    expect(error).toContain('the report on key files')
    for (const secret of [...Object.values(SECRET), 'horse']) expect(error).not.toContain(secret)
  })
})
