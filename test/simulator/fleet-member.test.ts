import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { profileOf } from '../../simulator/commands/demo/fleet/profiles.ts'
import { startMember } from '../../simulator/commands/demo/fleet/fleet.ts'
import { createChain } from '../../simulator/chain.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { manualClock } from '../support/manual-clock.ts'
import { scrape } from '../support/scrape.ts'

const BEGIN = Date.UTC(2026, 2, 1, 12, 10)

/** The node of that number, in a network of twenty. */
const start = async (number: number, directory: string) => {
  const logged: string[] = []
  const clock = manualClock(BEGIN)
  const member = await startMember({
    name: 'node',
    profile: profileOf(number),
    chain: createChain(1, 20),
    index: number % 20,
    prefix: 'chain',
    forksFromMs: BEGIN,
    clock,
    log: pino({}, { write: (line) => void logged.push(line) }),
    directory,
  })
  onTestFinished(member.stop)
  return { clock, logged, url: `http://127.0.0.1:${member.port}/metrics` }
}

it('a profile that cannot be applied is logged; the agent continues', async ({ directory }) => {
  await mkdir(join(directory, 'state/maintenance.json'), { recursive: true })
  const { clock, logged, url } = await start(27, directory)
  expect(profileOf(27).name).toBe('maintenance')
  await clock.advance(20_000)
  await eventually(
    () => logged.join(''),
    (text) => /"level":50.*Could not apply the profile \\"maintenance\\"/.test(text),
  )
  expect((await scrape(url)).value('chain_agent_build_info')).not.toBe(undefined)
})

it('the stake of a node matches how often it leads', async ({ directory }) => {
  const { clock, url } = await start(1, directory)
  for (let second = 0; second < 20; second += 1) await clock.advance(1000)
  await eventually(async () => (await scrape(url)).value('chain_native_stake_ratio'), 0.05)
})
