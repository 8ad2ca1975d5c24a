import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { makeDirectory, removeLeftovers } from '../../src/commands/demo/fleet/directory.ts'
import { fateOf } from '../../src/commands/demo/fleet/fates.ts'
import { readScrapeConfig } from '../../src/commands/demo/fleet/scrape-config.ts'
import { stakeBpsOf } from '../../src/commands/demo/fleet/stake.ts'
import { renderFates } from '../../src/commands/demo/fleet/texts.ts'
import { parseScenario } from '../../src/simulator/scenario/scenario.ts'
import { cli } from '../support/cli.ts'

const hundred = Array.from({ length: 100 }, (_, index) => fateOf(index + 1))

describe('the fates', () => {
  test('of a hundred nodes 67 are well, and 33 each have one of their own', () => {
    const ill = hundred.map(({ name }) => name).filter((name) => name !== 'healthy')
    expect(ill).toHaveLength(33)
    expect(new Set(ill).size).toBe(33)
  })

  test('are those of the name, however large the fleet: the second hundred is like the first', () => {
    expect(fateOf(3).name).toBe('behind')
    expect(fateOf(103)).toBe(fateOf(3))
    expect(fateOf(100).name).toBe('healthy')
    expect(fateOf(1000).name).toBe('healthy')
  })

  test.each([...new Set(hundred)])('$name is a scenario', ({ name, lines }) => {
    expect(parseScenario(name, lines.join('\n')).steps).toHaveLength(lines.length)
  })

  test('are listed, one node a line', () => {
    const lines = renderFates(6).split('\n')
    expect(lines).toHaveLength(7)
    expect(lines[5]).toMatch(/^node-006 {2}stalled +every process runs/)
  })
})

test('the configuration for Prometheus is the one that is shipped, with the targets and rules of here', async () => {
  const shipped: unknown = parse(
    await readFile(join(import.meta.dirname, '../../deploy/prometheus/fleet.yml'), 'utf8'),
  )
  const [ours, ...others] = schema.parse(shipped).scrape_configs
  expect(ours).toMatchObject({ job_name: 'chain-agent', sample_limit: 1000 })
  const places = { targetsFile: '/run/targets.json', front: 'http://127.0.0.1:9843' }
  const { rule_files: rules, ...written } = schema.parse(parse(await readScrapeConfig(places)))
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
  test.each([20, 30, 99, 100, 300, 999, 1000])('of %i are the whole, and alike', (size) => {
    const stakes = Array.from({ length: size }, (_, index) => stakeBpsOf(index, size))
    expect(stakes.reduce((sum, stake) => sum + stake)).toBe(10_000)
    for (const stake of stakes) expect(Math.abs(stake - 10_000 / size)).toBeLessThan(1)
  })
})

describe('what killed fleets left', () => {
  test('goes when the next one starts; what lives, and what is not of a fleet, stays', async () => {
    const place = await mkdtemp(join(tmpdir(), 'chain-leftovers-'))
    const dead = spawnSync(process.execPath, ['--version']).pid
    const mine = await makeDirectory(place)
    const left = join(place, `chain-fleet-${dead}-aB3dE6`)
    await mkdir(join(left, 'node-001'), { recursive: true })
    const others = [`chain-fleet-${dead}`, `chain-fleet-data-${dead}`, `fleet-${dead}-aB3dE6`]
    for (const name of others) await mkdir(join(place, name))
    await removeLeftovers([place, join(place, 'none')])
    expect((await readdir(place)).toSorted()).toEqual([basename(mine), ...others].toSorted())
    await rm(place, { recursive: true })
  })
})

describe('what is asked in a wrong way', () => {
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
