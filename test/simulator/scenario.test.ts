import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/core/errors.ts'
import { directives, listScenarios, loadScenario, parseScenario } from '../../simulator/scenario/scenario.ts'

const complaint = (text: string): string => {
  try {
    parseScenario('own.scenario', text)
    return 'no complaint'
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return String(error).replace('ConfigError: ', '')
  }
}

describe('the format of scenarios', () => {
  test('has lines of time, subject, verb and argument, and comments', () => {
    const { name, description, steps } = parseScenario(
      'own',
      '# Two things happen.\n\n20s    rpc   frozen\n# then\n1m30s  bft   crashes SIGSEGV\n',
    )
    expect({ name, description }).toEqual({ name: 'own', description: 'Two things happen.' })
    expect(steps.map(({ afterMs }) => afterMs)).toEqual([20_000, 90_000])
  })

  test('reports where a line is wrong, what it is, and what was expected', () => {
    expect(complaint('# ok\nsoon rpc frozen')).toMatchInlineSnapshot(`
      "own.scenario, line 2: not a time: "soon"
        expected: a time since the start, such as 20s or 1m30s, at most a week"
    `)
    expect(complaint('5s consensu stops')).toMatchInlineSnapshot(`
      "own.scenario, line 1: unknown directive: "consensu stops"
        expected: a subject and a verb of scenarios/README.md
        did you mean "consensus stops"?"
    `)
    expect(complaint('5s bft crash SIGABRT')).toMatchInlineSnapshot(`
      "own.scenario, line 1: unknown directive: "bft crash"
        expected: bft panics, crashes, exits, stops, vanishes, starts, logs, repeats, calms, lags, badroot, agrees
        did you mean "bft crashes"?"
    `)
    expect(complaint('5s bft crashes SIGABORT')).toMatchInlineSnapshot(`
      "own.scenario, line 1: wrong argument after "bft crashes": "SIGABORT"
        expected: a signal, such as SIGABRT"
    `)
    expect(complaint('5s rpc frozen solid')).toMatchInlineSnapshot(`
      "own.scenario, line 1: unexpected argument: "solid"
        expected: nothing after "rpc frozen""
    `)
    expect(complaint('9s rpc frozen\n5s rpc answers')).toMatchInlineSnapshot(`
      "own.scenario, line 2: goes back in time: "5s rpc answers"
        expected: no earlier than "9s rpc frozen""
    `)
  })

  test('never throws anything but a ConfigError', () => {
    const words = [...directives.flatMap(({ subject, verb }) => [subject, verb]), '120', '3s', 'SIGABRT', '#']
    const lines = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary' })))
    fc.assert(
      fc.property(fc.array(lines.map((line) => line.join(' '))), (texts) => {
        expect(complaint(texts.join('\n'))).toMatch(/^(?:no complaint|own\.scenario, line \d+: )/)
      }),
    )
  })
})

describe('the scenarios of the package', () => {
  test('are valid and have a description of one sentence', async () => {
    for (const { name, description } of await listScenarios()) {
      const form = `the first line of scenarios/${name}.scenario is one sentence of at most 122 characters`
      expect(description, form).toMatch(/^[A-Z].{20,120}\.$/)
    }
  })

  test('are found by name, and a misspelt name gets a suggestion', async () => {
    expect((await loadScenario('lagging')).steps).toHaveLength(1)
    await expect(loadScenario('staled')).rejects.toThrow('did you mean stalled?')
    await expect(loadScenario('lagg')).rejects.toThrow(
      'unknown scenario "lagg"; did you mean lagging? Use --list to print all scenarios, or a path that ends in .scenario',
    )
    await expect(loadScenario('./missing.scenario')).rejects.toThrow(ConfigError)
  })
})
