import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { parseJournalEntry } from '../../src/parsers/journal.ts'
import { createExec } from '../../src/sources/exec.ts'
import { createJournalRangeReader, type JournalRange } from '../../src/sources/journal-range.ts'
import { debianPackage } from '../support/debian.ts'
import { temporaryFolder } from '../support/directory.ts'
import { must } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type SteppedEntry, steppedFiles } from '../support/stepped-journal.ts'

/** It writes entries to a journal file with the times that they have. */
const journalRemote = async () => {
  const libraries = join(await debianPackage('libmicrohttpd12'), 'usr/lib/x86_64-linux-gnu')
  const program = join(await debianPackage('systemd-journal-remote'), 'lib/systemd/systemd-journal-remote')
  return { program, env: { LD_LIBRARY_PATH: libraries } }
}
const describe = await requireRealPart('journal-remote', async () => {
  const { program, env } = await journalRemote()
  return { version: (await must(program, ['--version'], { env })).split('\n')[0] ?? '' }
})
const directory = await temporaryFolder()

const at = (time: string): number => Date.parse(`2026-11-24T${time}Z`)

describe('the files of a real journal whose clock went back', () => {
  const read = async (range: Omit<JournalRange, 'match'>, ...match: readonly string[]) => {
    const exec = createExec({ clock: systemClock, path: `${directory}:/usr/bin:/bin` })
    const reader = createJournalRangeReader({ exec, parse: parseJournalEntry })
    const times: string[] = []
    const unit = ['-u', 'chain-execution.service', ...match]
    for await (const { entries } of reader({ ...range, match: unit }, new AbortController().signal)) {
      times.push(...entries.map((entry) => new Date(entry.at).toISOString().slice(11, 19)))
    }
    return [times.length, times[0], times.at(-1)]
  }
  const writeFileOf = async (entries: readonly SteppedEntry[], name: string): Promise<void> => {
    const text = join(directory, `${name}.export`)
    await writeFile(text, entries.map(({ exported }) => exported).join(''))
    const { program, env } = await journalRemote()
    await must(program, ['-o', join(directory, 'journal', `${name}.journal`), text], { env })
  }

  beforeAll(async () => {
    await mkdir(join(directory, 'journal'))
    for (const [index, entries] of steppedFiles().entries()) await writeFileOf(entries, `part-${index}`)
    const script = `#!/bin/sh\nexec /usr/bin/journalctl --directory '${directory}/journal' "$@"\n`
    await writeFile(join(directory, 'journalctl'), script, { mode: 0o755 })
  })

  it('the reader finds the entries of the range, also by a pattern and the newest ones', async () => {
    const range = { since: at('09:39:00'), until: at('09:41:00') }
    expect(await read(range)).toEqual([26, '09:39:00', '09:41:00'])
    expect(await read(range, '--grep=Assertion')).toEqual([1, '09:40:00', '09:40:00'])
    expect(await read({ ...range, newest: 10 })).toEqual([10, '09:40:15', '09:41:00'])
  })

  it('a range around the step has the entries of both files in the order in which they were written', async () => {
    expect(await read({ since: at('09:00:00'), until: at('11:00:00') })).toEqual([481, '10:00:00', '10:39:55'])
    expect(await read({ since: at('10:05:00'), until: at('10:35:00') })).toEqual([121, '10:05:00', '10:35:00'])
    expect(await read({ since: at('10:05:00'), newest: 10_000 })).toEqual([180, '10:05:00', '10:39:55'])
  })
})
