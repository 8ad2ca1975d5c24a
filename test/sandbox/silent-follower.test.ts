import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { JournalStart } from '../../src/sources/journal.ts'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createSandbox, type Sandbox } from '../support/sandbox.ts'
import { createSandboxedJournal } from '../support/sandboxed-journal.ts'

const describe = await requireSandbox()
const PROGRAM = fileURLToPath(new URL('../fixtures/bin/lines.mjs', import.meta.url))

const PROCESSES = '^/usr/bin/journalctl --follow'

/** Lines a second → the name of the unit. */
const RATES = [
  [0.1, 'tenth'],
  [3, 'three'],
  [5000, 'thousands'],
] as const

describe('a real journalctl that goes silent', () => {
  let sandbox: Sandbox
  let followed: Awaited<ReturnType<typeof createSandboxedJournal>>
  const stop = new AbortController()
  const timing = { interval: 5000, timeout: 10_000 }

  beforeAll(async () => {
    sandbox = await createSandbox({
      units: (directory) =>
        Object.fromEntries(
          RATES.map(([rate, name]) => [
            `${name}.service`,
            `[Service]\nExecStart=${process.execPath} ${PROGRAM} ${rate} ${join(directory, 'stop')}\n`,
          ]),
        ),
      binds: [PROGRAM],
    })
    followed = await createSandboxedJournal(sandbox)
    await sandbox.systemctl('start', ...RATES.map(([, unit]) => unit))
  })
  afterAll(async () => {
    stop.abort()
    followed.killAll()
    await sandbox.down()
  })

  /** Follows as the collectors do: after a failure again from the last entry on. */
  const follow = (unit: string) => {
    const lines: string[] = []
    const failures: { readonly at: number; readonly code: string | undefined }[] = []
    let gaps = 0
    const reading = (async () => {
      let start: JournalStart = { newest: 1000 }
      while (!stop.signal.aborted) {
        try {
          const context = { clock: systemClock, signal: stop.signal }
          for await (const { entries, gap } of followed.shared.follow(
            { match: [`_SYSTEMD_UNIT=${unit}.service`], start, ...timing },
            context,
          )) {
            gaps += Number(gap)
            for (const { message } of entries) lines.push(message ?? '')
            const last = entries.at(-1)
            if (last) start = { after: last.cursor }
          }
        } catch (error) {
          failures.push({ at: Date.now(), code: error instanceof SourceError ? error.code : String(error) })
        }
      }
    })()
    return { unit, lines, failures, gaps: () => gaps, reading }
  }

  const processes = async (): Promise<readonly string[]> =>
    (await sandbox.exec('pgrep', ['-f', PROCESSES])).stdout.split('\n').filter((line) => line !== '')

  it('is restarted where it stopped, at 0.1, 3 and 5,000 lines a second', async () => {
    const followers = RATES.map(([, unit]) => follow(unit))
    await eventually(
      () => followers.map(({ lines }) => lines.length),
      (counts) => counts.every((count) => count >= 2),
    )
    // The one that they share.
    await eventually(processes, ({ length }) => length === 1)
    const silentAt = Date.now()
    expect(await sandbox.exec('pkill', ['-STOP', '-f', PROCESSES])).toMatchObject({ code: 0 })
    await eventually(
      () => followers.map(({ failures }) => failures.length),
      (counts) => counts.every((count) => count >= 1),
    )
    await writeFile(join(sandbox.directory, 'stop'), '')
    await eventually(
      () => followers.map(({ lines }) => lines.at(-1)),
      (last) => last.every((line) => line === 'end'),
    )
    for (const { unit, lines, failures, gaps } of followers) {
      const numbers = lines.slice(0, -1).map(Number)
      const first = numbers[0] ?? Number.NaN
      const lost = (numbers.at(-1) ?? Number.NaN) - first + 1 - new Set(numbers).size
      const doubled = numbers.length - new Set(numbers).size
      const seconds = failures.map(({ at }) => ((at - silentAt) / 1000).toFixed(1)).join(', ')
      console.log(`${unit}: restarted after ${seconds} s; ${numbers.length} lines, ${lost} lost, ${doubled} doubled`)
      expect({ unit, lost, doubled, gaps: gaps(), codes: failures.map(({ code }) => code) }).toEqual({
        unit,
        lost: 0,
        doubled: 0,
        gaps: 0,
        codes: ['journalctl silent'],
      })
    }
  })
})
