import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { run } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'

/** `systemd-analyze security --offline` is new in systemd 250. */
const probe = async (): Promise<Probe> => {
  try {
    const { stdout } = await run('systemd-analyze', ['--version'])
    const [, version = '0'] = /^systemd (\d+)/.exec(stdout) ?? []
    return Number(version) >= 250
      ? { version: `systemd ${version}` }
      : { missing: `systemd ${version} is older than 250` }
  } catch (error) {
    return { missing: String(error) }
  }
}

const describe = await requireRealPart('systemd-analyze', probe)
const units = (await readdir('deploy')).filter((file) => file.endsWith('.service'))

it.each(units)('%s: neither a core dump nor its pipe handler gets the memory of the process', async (unit) => {
  // With 0 bytes the kernel still starts a pipe handler: core(5).
  expect(await readFile(`deploy/${unit}`, 'utf8')).toMatch(/^LimitCORE=1$/m)
})

describe('the exposure of a unit, from 0 to 10', () => {
  // The threshold is in tenths.
  it.each(units)('is below 2.0: %s', async (unit) => {
    const args = ['security', '--offline=true', '--no-pager', '--threshold=19', `deploy/${unit}`]
    const { code, stdout } = await run('systemd-analyze', args)
    expect({ code, exposure: stdout.trimEnd().split('\n').at(-1) }).toMatchObject({ code: 0 })
  })
})
