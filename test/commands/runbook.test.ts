import { describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { execPrinting } from '../support/exec-printing.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shipped } from '../support/shipped.ts'

const NAME = 'ChainPartialRestart'

/** A host whose systemd lists these units, or has no systemd. */
const host = (units: string | null) => {
  const exec = execPrinting(() => {
    if (units === null) throw new shipped.SourceError({ doing: 'run systemctl', happened: 'there is no such program' })
    return units
  })
  return { overrides: { exec }, env: { PATH: '/nonexistent' } }
}

describe('the names in a runbook have the prefix', () => {
  test('that systemd has', async () => {
    const { code, out, err } = await cli(['runbook', NAME], host('monad-bft.service enabled enabled\n'))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('monad-bft')
    expect(out).not.toContain('chain-bft')
  })

  test('of the option, of the environment', async () => {
    const byOption = await cli(['runbook', NAME, '--prefix', 'other'], host(null))
    expect(byOption).toMatchObject({ code: 0, err: '' })
    expect(byOption.out).toContain('other-bft')
    const { env, ...rest } = host(null)
    const byVariable = await cli(['runbook', NAME], { ...rest, env: { ...env, CHAIN_AGENT_PREFIX: 'other' } })
    expect(byVariable.out).toBe(byOption.out)
  })

  test('chain on a host without a node, with a note', async () => {
    for (const units of [null, '']) {
      const { code, out, err } = await cli(['runbook', NAME], host(units))
      expect(code).toBe(0)
      expect(out).toContain('chain-bft')
      expect(err).toBe('No node was found on this host: names have the prefix chain. Set another one with --prefix.\n')
    }
  })

  it('of the installed configuration; that is found if the configuration is invalid', async ({ directory }) => {
    const installedConfig = join(directory, 'config.yaml')
    for (const [text, prefix] of [
      ['prefix: other\n', 'other'],
      ['prefix: other\nlistem: x\n', 'monad'],
      ['prefix: auto\n', 'monad'],
      ['prefix: Other-1\n', 'monad'],
      ['- prefix\n', 'monad'],
      ['prefix: [', 'monad'],
    ] as const) {
      await writeFile(installedConfig, text)
      const found = await cli(['runbook', NAME], { ...host('monad-bft.service enabled\n'), installedConfig })
      expect(found).toMatchObject({ code: 0, err: '' })
      expect(found.out).toContain(`${prefix}-bft`)
    }
    const named = await cli(['runbook', NAME, '--config', installedConfig], host(null))
    expect(named).toMatchObject({ code: 2, out: '' })
  })
})

test('an address has the section of its row and what all rows have in common', async () => {
  const { code, out } = await cli(['runbook', 'ChainBlockStalled.deadlock'], host('monad-bft.service enabled\n'))
  expect(code).toBe(0)
  expect([...out.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
    'Meaning',
    'Impact',
    'Diagnosis',
    'In Prometheus',
    'Mitigation',
    'Deadlock',
    'When to escalate',
    'Threshold',
  ])
})

test.each([
  ['ChainBlockStalled.deadlok', 'Did you mean ChainBlockStalled.deadlock?'],
  ['ChainDriveGone.x', 'Did you mean ChainDriveGone?'],
  ['ChainPartialRestrt', 'Did you mean ChainPartialRestart?'],
])('%s has no runbook: %s', async (name, hint) => {
  const { code, out, err } = await cli(['runbook', name], host('monad-bft.service enabled\n'))
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: `error: no runbook for '${name}'.\n(${hint})\n` })
})
