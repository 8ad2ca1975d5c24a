import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { run } from './programs.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CONFIG = 'test/fixtures/real-part/vitest.config.ts'

/** A complete run of vitest over fixtures, one of which probes for a part that does not exist. */
const runOfVitest = async (file: string, env: Readonly<Record<string, string>>) => {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', CONFIG, file]
  const { code, stdout } = await run(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    extendEnv: false,
  })
  return { code, closing: stdout.trimEnd().split('\n').slice(-2) }
}

describe('a real part that the machine does not have', () => {
  it('is skipped with the reason where CI is not set', async () => {
    expect(await runOfVitest('missing', {})).toEqual({
      code: 0,
      closing: ['real parts: a flying carpet skipped (none in this house)', '0 passed, 0 failed, 2 skipped'],
    })
  })

  it('is a failure where CI is set', async () => {
    expect(await runOfVitest('missing', { CI: 'true' })).toEqual({
      code: 1,
      closing: ['real parts: a flying carpet skipped (none in this house)', '0 passed, 1 failed, 1 skipped'],
    })
  })
})

describe('the closing lines', () => {
  it('name the version of a part that ran', async () => {
    expect(await runOfVitest('present', {})).toEqual({
      code: 0,
      closing: ['real parts: a broom ran (2.0)', '2 passed, 0 failed'],
    })
  })

  it('count a file that cannot be loaded as a failure', async () => {
    const { code, closing } = await runOfVitest('broken', {})
    expect({ code, verdict: closing.at(-1) }).toEqual({ code: 1, verdict: '0 passed, 1 failed' })
  })
})
