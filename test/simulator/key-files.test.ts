import { chmod, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createKeyExaminer } from '../../src/collectors/keys/files.ts'
import { createChain } from '../../simulator/chain.ts'
import { createKeyFiles } from '../../simulator/keystore/key-files.ts'
import { createNode } from '../../simulator/node.ts'
import { loadScenario, parseScenario, type Scenario } from '../../simulator/scenario/scenario.ts'
import { keyFiles } from '../../src/sources/key-files.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { manualClock } from '../support/manual-clock.ts'

const chain = createChain(5)
const BEGIN = Date.UTC(2026, 2, 1, 12)
const MONTH_MS = 30 * 86_400_000

const simulate = async (directory: string, scenario: Scenario) => {
  const [clock, stop] = [manualClock(BEGIN), new AbortController()]
  const node = createNode({ clock, chain, prefix: 'zephyr', scenario })
  const keeper = await createKeyFiles(node, directory)
  void keeper.keep({ clock, signal: stop.signal })
  onTestFinished(() => {
    stop.abort()
  })
  const examine = createKeyExaminer({
    keyFiles,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
    keyFolders: { ...keeper.places, directory: keeper.places.nodeDirectory },
  })
  /** The agent's metrics at that second that differ from the installation. */
  const expectAt = async (second: number, expected: object): Promise<void> => {
    const look = async () =>
      Object.fromEntries(
        (await examine(new AbortController().signal)).flatMap((file) => {
          const { key, kind, state, why, copies, writtenAt } = file
          const age = writtenAt === null ? null : writtenAt - BEGIN
          const isUsual = state === 'ok' && (copies ?? 0) === 0 && (age ?? -MONTH_MS) === -MONTH_MS
          return isUsual ? [] : [[`${key} ${kind}`, [state, why, age, copies]]]
        }),
      )
    await clock.advance(BEGIN + second * 1000 - clock.now())
    // The files are written in the following turns of the event loop.
    await eventually(look, (seen) => JSON.stringify(seen) === JSON.stringify(expected))
  }
  return { ...keeper, clock, expectAt }
}

it('the agent detects every change of each file', async ({ directory }) => {
  const { expectAt } = await simulate(
    directory,
    parseScenario(
      'own',
      `10s key secp breaks
10s key bls vanishes
10s key password empties
10s key password-backup breaks
20s key secp leaks
20s key bls returns
20s key password breaks
20s key secp-backup leaks
30s key secp returns
30s key secp-backup rotates
40s key secp-backup returns`,
    ),
  )
  await expectAt(11, {
    'secp keystore': ['invalid', 'not JSON', null, null],
    'bls keystore': ['missing', null, null, null],
    'password keystore': ['invalid', 'empty', null, null],
    'password backup': ['invalid', 'no password in it', 10_000, 0],
  })
  const password = ['invalid', 'no password in it', null, null]
  await expectAt(21, {
    'secp keystore': ['invalid', 'not JSON', null, null],
    'password keystore': password,
    'secp backup': ['exposed', 'mode 0644', -MONTH_MS, 0],
    'password backup': ['invalid', 'no password in it', 10_000, 0],
  })
  await expectAt(41, {
    'password keystore': password,
    // The old export keeps the mode that it had.
    'secp backup': ['exposed', 'a rotated copy: mode 0644', 40_000, 1],
    'password backup': ['invalid', 'no password in it', 10_000, 0],
  })
})

it('a change by the operator stays until the scenario changes the file', async ({ directory }) => {
  const { expectAt, places, clock } = await simulate(directory, await loadScenario('backup-missing'))
  await chmod(join(places.backupDirectory, 'bls-backup'), 0o604)
  await rm(places.environmentFile)
  await expectAt(31, {
    'password keystore': ['missing', null, null, null],
    'secp backup': ['missing', null, null, 0],
    'bls backup': ['exposed', 'mode 0604', -MONTH_MS, 0],
  })
  await clock.advance(400)
  expect((await stat(join(places.backupDirectory, 'bls-backup'))).mode & 0o777).toBe(0o604)
})
