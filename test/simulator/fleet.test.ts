import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import {
  createSharedClock,
  makeDirectory,
  removeLeftovers,
  stakeBpsOf,
} from '../../simulator/commands/demo/fleet/fleet.ts'
import { profileOf } from '../../simulator/commands/demo/fleet/profiles.ts'
import { readScrapeConfig, renderProfiles } from '../../simulator/commands/demo/fleet/demo-fleet.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { cli } from '../support/cli.ts'
import { manualClock } from '../support/manual-clock.ts'

const hundred = Array.from({ length: 100 }, (_, index) => profileOf(index + 1))

describe('the profiles', () => {
  test('of a hundred nodes: 67 are healthy, 33 have a profile each', () => {
    const unhealthy = hundred.map(({ name }) => name).filter((name) => name !== 'healthy')
    expect(unhealthy).toHaveLength(33)
    expect(new Set(unhealthy).size).toBe(33)
  })

  test.each([...new Set(hundred)])('$name is a scenario', ({ name, lines }) => {
    expect(parseScenario(name, lines.join('\n')).steps).toHaveLength(lines.length)
  })

  test('are listed, one node per line', () => {
    const lines = renderProfiles(6).split('\n')
    expect(lines).toHaveLength(7)
    expect(lines[5]).toMatch(/^node-006 {2}stalled +every process runs/)
  })
})

test('the configuration for Prometheus is the shipped one, with the targets and rules of the fleet', async () => {
  const shipped: unknown = parse(await readFile(join(import.meta.dirname, '../../deploy/prometheus/fleet.yml'), 'utf8'))
  const [ours, ...others] = schema.parse(shipped).scrape_configs
  expect(ours).toMatchObject({ job_name: 'chain-agent', sample_limit: 2000 })
  const text = await readScrapeConfig('/run/targets.json', 'http://127.0.0.1:9843')
  const { rule_files: rules, ...written } = schema.parse(parse(text))
  expect(written).toEqual({
    global: schema.parse(shipped).global,
    scrape_configs: [
      { ...ours, file_sd_configs: [{ files: ['/run/targets.json'] }] },
      ...others,
      { job_name: 'chain-fleet', static_configs: [{ targets: ['127.0.0.1:9843'] }] },
    ],
  })
  const found = rules.map((path) => [dirname(path), basename(path)])
  expect(found).toEqual([[join(import.meta.dirname, '../../alerts'), '*.rules.yaml']])
})

const schema = z.looseObject({
  rule_files: z.array(z.string()),
  global: z.unknown(),
  scrape_configs: z.array(z.looseObject({})),
})

describe('the stakes of a network', () => {
  test.each([20, 30, 99, 100, 300, 999, 1000])(
    'of %i validators have the right total and differ by less than one basis point',
    (size) => {
      const stakes = Array.from({ length: size }, (_, index) => stakeBpsOf(index, size))
      expect(stakes.reduce((sum, stake) => sum + stake)).toBe(10_000)
      for (const stake of stakes) expect(Math.abs(stake - 10_000 / size)).toBeLessThan(1)
    },
  )
})

describe('directories of killed fleets', () => {
  test('are removed when the next fleet starts; those of running fleets and other directories stay', async () => {
    const place = await mkdtemp(join(tmpdir(), 'chain-leftovers-'))
    const exitedPid = spawnSync(process.execPath, ['--version']).pid
    const running = await makeDirectory(place)
    const left = join(place, `chain-fleet-${exitedPid}-aB3dE6`)
    await mkdir(join(left, 'node-001'), { recursive: true })
    const others = [`chain-fleet-${exitedPid}`, `chain-fleet-data-${exitedPid}`, `fleet-${exitedPid}-aB3dE6`]
    for (const name of others) await mkdir(join(place, name))
    await removeLeftovers([place, join(place, 'none')])
    expect((await readdir(place)).toSorted()).toEqual([basename(running), ...others].toSorted())
    await rm(place, { recursive: true })
  })
})

describe('usage errors', () => {
  test.each([
    [['--fleet', '0'], 'from 1 to 1000'],
    [['--fleet', '1001'], 'from 1 to 1000'],
    [['--fleet', 'x'], 'from 1 to 1000'],
    [['--fleet', '1e2'], 'from 1 to 1000'],
    [['--fleet', '3', '--scenario', 'lagging'], "cannot be used with option '--scenario"],
  ])('demo %j', async (argv, expected) => {
    const { code, out, err } = await cli(['demo', ...argv])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(expected)
  })
})

test('the clock of a fleet wakes at the first tick after the time, and not before', async () => {
  const manual = manualClock()
  const { signal } = new AbortController()
  const clock = createSharedClock(manual, signal)
  const woken: number[] = []
  for (const ms of [1000, 60]) void clock.sleep(ms, signal).then(() => woken.push(ms))
  await manual.advance(25)
  await manual.advance(25)
  expect(woken).toEqual([])
  await manual.advance(25)
  expect(woken).toEqual([60])
  await manual.advance(925)
  expect(woken).toEqual([60, 1000])
})
