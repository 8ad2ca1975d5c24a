import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { parseIncident } from '../../src/parsers/incident.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/directory.ts'
import { type Host, openHost, sharedHost } from '../support/host.ts'
import { must } from '../support/programs.ts'
import { leaksOf, PLANTED } from '../support/secrets.ts'

const archives = await temporaryFolder()

/** The file system of the simulated host is that of the machine, which other programs fill. */
const settings = { 'health.disable': '[ChainDiskFull.filling, ChainDiskFull]' }

/** Second by second, so that each collector and rule runs at its own times. */
const play = async (host: Host, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) await host.second()
}

const latest = async (host: Host) => {
  const { code, out, err } = await host.run(['incident', 'latest', '--json'])
  expect(err).toBe('')
  expect(code).toBe(0)
  return parseIncident(out)
}
type Incident = Awaited<ReturnType<typeof latest>>

/** The lines of a unit, without the time that journald gave them; of the first range or the last. */
const linesOf = ({ journals }: Incident, unit: string, range: 0 | -1): readonly string[] =>
  (journals.at(range)?.units?.find((log) => log.unit === unit)?.lines ?? []).map((line) =>
    line.slice('2026-03-01T12:58:36.000Z '.length),
  )

/** What another command prints of a range of the journal, both ends inclusive. */
const logOf = async (host: Host, service: string, [from, to]: readonly [number, number]) => {
  const range = ['--since', `@${from / 1000}`, '--until', `@${to / 1000}`]
  const { out } = await host.run(['logs', service, ...range, '-o', 'raw'])
  return out.split('\n').filter((line) => line !== '')
}

const HOST_START = Date.UTC(2026, 2, 1, 12, 58)
const time = (seconds: number): number => HOST_START + seconds * 1000

describe('consensus panics', async () => {
  const host = await sharedHost({ scenario: 'panic', second: 0, settings, hasSecrets: true })
  await play(host, 75)

  it('the journals have what `logs` prints of the same time', async () => {
    const incident = await latest(host)
    // The panic is at the 30th second; the logs are read, and the rules evaluated, within seconds.
    const fired = Date.parse(incident.firedAt)
    expect(fired).toBeGreaterThanOrEqual(time(30))
    expect(fired).toBeLessThanOrEqual(time(40))
    expect(incident.alerts.map(({ alert }) => alert)).toContain('ChainLogTrouble.aborted')
    const before = linesOf(incident, 'chain-bft.service', 0)
    expect(before.filter((line) => line.includes('panicked'))).toHaveLength(1)
    expect(before.at(-1)).toMatch(/^systemd: chain-bft\.service: /)
    expect(linesOf(incident, 'chain-bft.service', -1)).toEqual([])
    const [execution, later] = [0, -1].map((range) =>
      linesOf(incident, 'chain-execution.service', range === 0 ? 0 : -1),
    )
    expect(execution).toEqual(await logOf(host, 'execution', [fired - 60_000, fired]))
    expect(later).toEqual(await logOf(host, 'execution', [fired + 1, fired + 30_000]))
    expect(execution).not.toEqual([])
  })

  it('has no planted secret', async () => {
    const { id } = await latest(host)
    const file = join(host.directory, 'state', 'incidents', `${id}.json`)
    expect(leaksOf(PLANTED)(await readFile(file, 'utf8'))).toEqual([])
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    const { out } = await host.run(['incident', id])
    expect(leaksOf(PLANTED)(out)).toEqual([])
    expect(out).toMatch(new RegExp(`^Incident ${id}, kept by chain-agent `))
    expect(out).toContain('Journal of chain-bft.service')
  })

  it('is named by the list, check, the events, the page, the API and the bundle', async () => {
    const { id } = await latest(host)
    const named = `chain-agent incident ${id}`
    const list = await host.run(['incident'])
    expect(list).toMatchObject({ code: 0, err: '' })
    expect(list.out).toMatch(
      new RegExp(
        `^1 incident in .*, the newest first:\n {2}${id} {2}ChainServiceDown\\.failed, ChainLogTrouble\\.aborted;`,
      ),
    )
    expect((await host.run(['check'])).out).toContain(`EVIDENCE: ${named}\n`)
    expect((await host.run(['events', '--collector', 'agent'])).out).toContain(named)
    expect(await host.page('/')).toContain(`<code>${named}</code>`)
    expect(JSON.parse(await host.page('/api/v1/overview'))).toMatchObject({ incident: id })
    expect(await host.page('/api/v1/health')).toContain(`"incident": "${id}"`)
    const archive = join(archives, 'bundle.tar.gz')
    await host.run(['bundle', '--no-logs', '-o', archive])
    expect(await must('tar', ['-tzf', archive])).toContain(`incidents/${id}.json`)
  })

  it('is not served over HTTP', async () => {
    const { id } = await latest(host)
    for (const path of [`/api/v1/incidents/${id}`, `/incidents/${id}.json`]) expect(await host.page(path)).toBe('')
  })
})

test('a flood of the log: the lines next to the alert are kept', async () => {
  const host = await openHost({ scenario: '20s log floods 4000\n30s bft panics', second: 0, settings })
  await play(host, 75)
  expect(linesOf(await latest(host), 'chain-bft.service', 0).at(-1)).toMatch(/^systemd: chain-bft\.service: /)
  expect((await host.run(['incident', 'latest'])).out).toContain(
    '-- earlier lines are not kept: there were too many --',
  )
})

describe('files of an agent that does not run', async () => {
  const directory = await temporaryFolder()
  const run = async (state: string, argv: readonly string[]) =>
    cli(['incident', ...argv, '--set', `state.directory=${join(directory, state)}`], { env: { NO_COLOR: '1' } })

  test('no incident: an empty list', async () => {
    await mkdir(join(directory, 'none'))
    const incidents = join(directory, 'none', 'incidents')
    const why = `o incident is kept in ${incidents}; the agent keeps one when a critical alert fires.`
    expect(await run('none', [])).toEqual({ code: 0, out: `N${why}\n`, err: '' })
    const { out } = await run('none', ['--json'])
    expect(JSON.parse(out)).toEqual({ directory: incidents, incidents: [], noneBecause: `n${why}` })
    expect(await run('none', ['latest'])).toEqual({ code: 2, out: '', err: `error: n${why}\n` })
  })

  test('no state: nothing is known', async () => {
    const why = `no agent has run here with this configuration: there is no ${join(directory, 'nothing')}.`
    expect(await run('nothing', ['latest'])).toEqual({ code: 2, out: '', err: `error: ${why}\n` })
    expect((await run('nothing', [])).out).toBe(`N${why.slice(1)}\n`)
  })

  test('a truncated file: the list names it, and it cannot be printed', async () => {
    const incidents = join(directory, 'truncated', 'incidents')
    await mkdir(incidents, { recursive: true })
    await writeFile(join(incidents, '20260301-125930.json'), '{"id":"20260301-125930","agent":')
    const why = 'it is not complete JSON of an incident: it was truncated, or another version wrote it'
    expect(await run('truncated', [])).toEqual({
      code: 0,
      out: `1 incident in ${incidents}, the newest first:
  20260301-125930  cannot be read: ${why}
Print one: chain-agent incident ID, or latest\n`,
      err: '',
    })
    expect(await run('truncated', ['20260301-125930'])).toEqual({
      code: 1,
      out: '',
      err: `Could not read the incident 20260301-125930 in ${incidents}: ${why}
  what to do: read the journals of that time: \`chain-agent logs SERVICE --since TIME\`; the other incidents are intact\n`,
    })
  })

  test.each([
    ['20260301-125931', 'Did you mean 20260301-125930?'],
    ['../../../../etc/passwd', 'The newest is 20260301-125930.'],
  ])('an unknown id: %s', async (id, hint) => {
    const incidents = join(directory, 'truncated', 'incidents')
    expect(await run('truncated', [id])).toEqual({
      code: 2,
      out: '',
      err: `error: no incident '${id}' in ${incidents}; expected an id such as 20260301-125930, or latest.\n(${hint})\n`,
    })
  })

  test('a directory that cannot be read', async () => {
    await mkdir(join(directory, 'unreadable'))
    const incidents = join(directory, 'unreadable', 'incidents')
    await symlink(incidents, incidents)
    expect(await run('unreadable', [])).toEqual({
      code: 1,
      out: '',
      err: `Could not list the incidents in ${incidents}: it is a symbolic link\n`,
    })
  })
})
