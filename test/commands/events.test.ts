import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Host, openHost } from '../support/host.ts'

const start = async (options: Partial<Parameters<typeof openHost>[0]> = {}): Promise<Host> =>
  openHost({ scenario: 'healthy', second: 60, ...options })

describe('while the agent runs', () => {
  test('prints the number of changes and their start, then the changes', async () => {
    const { run } = await start()
    const told = await eventually(
      () => run(['events', '--all']),
      ({ out }) => out.includes('bft: active') && out.includes(' rpc '),
    )
    const [first = '', second = ''] = told.out.split('\n')
    expect(first).toMatch(/^\d+ changes since 20\d\d-\S+Z, from the running agent$/)
    expect(second).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {3}agent {8}started, version \S+$/)
    expect(told.out).toMatch(/Z {3}rpc {10}working$/m)
    expect(told.out).toMatch(/Z {3}services {5}bft: active/m)
    expect({ code: told.code, err: told.err }).toEqual({ code: 0, err: '' })
  })

  test('first readings are counted and not listed', async () => {
    const { run } = await start()
    const { out } = await eventually(
      () => run(['events']),
      (seen) => /; \d+ first readings not shown/.test(seen.out),
    )
    expect(out).not.toMatch(/bft: active$/m)
    expect(out).toMatch(/agent {8}started/)
  })

  test('of one collector, the newest, as JSON', async () => {
    const { run } = await start()
    const told = await eventually(
      () => run(['events', '--collector', 'services', '-n', '2', '--all', '--json']),
      ({ out }) => out.includes('"subject": "'),
    )
    const page: unknown = JSON.parse(told.out)
    expect(page).toMatchObject({
      origin: 'agent',
      events: [
        { collector: 'services', severity: 'info' },
        { collector: 'services', severity: 'info' },
      ],
    })
  })

  test('-f follows new events, and Ctrl-C ends it cleanly', async () => {
    const { run } = await start({ scenario: '63s otelcol stops', second: 60 })
    const { code, out } = await run(['events', '-f', '--json', '--all'], {
      until: (text) => /"subject":"otelcol","from":"active[^"]*","to":"inactive/.test(text),
    })
    expect(code).toBe(0)
    const ids = [...out.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))
    expect(ids).toEqual(ids.map((_, at) => at + 1))
  })
})

describe('where no agent runs', () => {
  test('the mark of a severity is visible without colour, and --severity filters', async () => {
    const host = await start({ agent: false })
    const line = (id: number, severity: string, to: string): string =>
      `{"id":${id},"at":"2026-03-01T10:00:00.000Z","severity":"${severity}","collector":"services","subject":"bft","from":"x","to":"${to}"}\n`
    const events = line(1, 'critical', 'failed') + line(2, 'warning', 'activating') + line(3, 'info', 'active')
    // The directory of an agent that has kept these events.
    const state = join(host.directory, 'state')
    await mkdir(state, { recursive: true })
    await writeFile(join(state, 'events.jsonl'), events)
    const marked = async (...options: string[]) => {
      const { out } = await host.run(['events', '--set', `state.directory=${state}`, ...options])
      return out
        .split('\n')
        .slice(1, -1)
        .map((text) => text.slice(25))
    }
    const critical = 'x services     bft: x -> failed'
    const warning = '! services     bft: x -> activating'
    expect(await marked()).toEqual([critical, warning, '  services     bft: x -> active'])
    expect(await marked('--severity', 'warning')).toEqual([critical, warning])
    expect(await marked('--severity', 'critical')).toEqual([critical])
  })
})
