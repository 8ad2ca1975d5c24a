import { randomBytes } from 'node:crypto'
import { chown, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { day, hour } from '../../src/core/units.ts'
import { type JournalEntry, parseJournalEntry } from '../../src/parsers/journal.ts'
import type { JournalStart } from '../../src/sources/journal.ts'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createSandbox, type Sandbox } from '../support/sandbox.ts'
import { createSandboxedJournal } from '../support/sandboxed-journal.ts'

const describe = await requireSandbox()
const PROGRAM = fileURLToPath(new URL('../fixtures/bin/lines.mjs', import.meta.url))
const UNIT = 'ten.service'

/**
 * The journal file as it is after a boot whose clock was ahead, with a sequence of its own: the offsets are those of
 * the journal file format, which systemd documents.
 */
const movedAhead = (file: Buffer, ms: number): Buffer => {
  const moved = Buffer.from(file)
  const move = (offset: number): void => {
    moved.writeBigUInt64LE(moved.readBigUInt64LE(offset) + BigInt(ms) * 1000n, offset)
  }
  const ENTRY = 3
  moved[16] = 0 // closed
  randomBytes(16).copy(moved, 72) // the id of the sequence
  move(184) // the times of the first and last entry
  move(192)
  const last = Number(moved.readBigUInt64LE(136))
  for (let at = Number(moved.readBigUInt64LE(88)); at <= last;) {
    if (moved[at] === ENTRY) move(at + 24)
    at += Math.ceil(Number(moved.readBigUInt64LE(at + 8)) / 8) * 8
  }
  return moved
}

describe('a real journal with entries of an earlier boot that are ten days ahead', () => {
  let sandbox: Sandbox
  let followed: Awaited<ReturnType<typeof createSandboxedJournal>>
  /** Of the unit's own lines: the first comes some time after systemd has written that the unit started. */
  const newest = async (scope: string): Promise<JournalEntry> => {
    const options = [scope, `_SYSTEMD_UNIT=${UNIT}`, '-n', '1', '-o', 'json']
    return parseJournalEntry(
      await eventually(async () => (await sandbox.exec('journalctl', options)).stdout, /^\{.*\}$/),
    )
  }

  beforeAll(async () => {
    sandbox = await createSandbox({
      units: (directory) => ({
        [UNIT]: `[Service]\nExecStart=${process.execPath} ${PROGRAM} 10 ${join(directory, 'stop')}\n`,
      }),
      binds: [PROGRAM],
    })
    await sandbox.systemctl('start', UNIT)
    await newest('--merge')
    const [machine = ''] = (await readdir(sandbox.journal)).filter((name) => /^[0-9a-f]{32}$/.test(name))
    const file = join(sandbox.journal, machine, 'system.journal')
    await sandbox.exec('journalctl', ['--rotate'])
    const archived = (await readdir(join(sandbox.journal, machine))).find((name) => name.startsWith('system@'))
    const old = join(sandbox.journal, machine, archived ?? 'none')
    const ahead = movedAhead(await readFile(old), 10 * day)
    await rm(old)
    await sandbox.reboot()
    const { uid, gid } = await stat(file)
    const forged = join(sandbox.journal, machine, `system@${'0'.repeat(16)}-${'0'.repeat(16)}.journal`)
    await writeFile(forged, ahead, { mode: 0o640 })
    await chown(forged, uid, gid)
    await sandbox.systemctl('start', UNIT)
    await newest('--boot')
    followed = await createSandboxedJournal(sandbox)
  })
  afterAll(async () => {
    followed.killAll()
    await sandbox.down()
  })

  /** Reads until this line has arrived. */
  const readUpTo = async (start: JournalStart, wanted: number): Promise<readonly JournalEntry[]> => {
    const stop = new AbortController()
    const following = { match: [`_SYSTEMD_UNIT=${UNIT}`], start, interval: 1000, timeout: 10_000 }
    const read: JournalEntry[] = []
    const context = { clock: systemClock, signal: stop.signal }
    for await (const { entries, gap } of followed.journal.follow(following, context)) {
      expect(gap).toBe(false)
      read.push(...entries)
      if (Number(read.at(-1)?.message) >= wanted) stop.abort()
    }
    return read
  }

  it('has them as its newest', async () => {
    const ahead = await newest('--merge')
    expect(ahead.at).toBeGreaterThan(Date.now() + 9 * day)
  })

  it('is followed in the current boot, from its newest entries and from a known one', async () => {
    const known = await newest('--boot')
    const after = Number(known.message)
    for (const start of [{ newest: 1 }, { after: known.cursor }]) {
      const read = await readUpTo(start, after + 30)
      const numbers = read.map(({ message }) => Number(message))
      const first = numbers[0] ?? Number.NaN
      expect(numbers).toEqual(numbers.map((_, index) => first + index))
      expect(read.every(({ at }) => at <= Date.now())).toBe(true)
      if ('after' in start) expect(first).toBe(after + 1)
    }
  })

  it('a position that is ahead is unusable: among them, of another boot, of a number that is not reached yet', async () => {
    const { cursor } = await newest('--merge')
    const inAnHour = ((Date.now() + hour) * 1000).toString(16)
    const otherBoot = `s=${'e'.repeat(32)};i=1;b=${'f'.repeat(32)};m=1;t=${inAnHour};x=1`
    const numberAhead = (await newest('--boot')).cursor.replace(/;i=[0-9a-f]+;/, ';i=ffffffff;')
    for (const after of [cursor, otherBoot, numberAhead])
      await expect(readUpTo({ after }, 1)).rejects.toMatchObject({ code: 'journal position unusable' })
  })
})
