import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { debianPackage } from '../support/debian.ts'
import { must, run } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'

const mandoc = async (): Promise<string> => join(await debianPackage('mandoc'), 'usr/bin/mandoc')

const probe = async (): Promise<Probe> => {
  try {
    await must(await mandoc(), ['-man'], { input: '.TH A 1 2026-01-01\n' })
    const groff = await must('groff', ['--version'])
    return { version: `mandoc, groff ${/\d[\d.]*/.exec(groff)?.[0] ?? 'unknown'}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

const describe = await requireRealPart('readers of manual pages', probe)

describe('the manual page', () => {
  it('has no fault that mandoc knows', async () => {
    const { out } = await cli(['man'])
    expect(await run(await mandoc(), ['-Tlint'], { input: out })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('is read by groff without a warning, and without losing a line', async () => {
    const { out } = await cli(['man'])
    const args = ['-man', '-Tascii', '-ww', '-rLL=200n', '-P-c', '-P-b', '-P-u', '-P-o']
    const { code, stdout, stderr } = await run('groff', args, { input: out })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // What roff would take for a command of its own is not lost.
    expect(stdout).toContain('chain-agent check --json | jq')
  })
})
