import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { clientVersionOf, createPackageTool, createVersionTool, writeForkFile } from '../../simulator/versions.ts'
import { renderNative } from '../../simulator/native.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { createStatusTool } from '../../simulator/status-report.ts'
import { createStorageTool } from '../../simulator/storage.ts'
import { BEGIN, consensusLog, playLines, printed, saying, textOf } from './play.ts'

const FORM = '-f=${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n'

/** The version that each source reports. */
const told = async (node: SimulatedNode) => {
  const [, program] = /"tag":"v([^"]+)"/.exec(await printed(createVersionTool(node), '--version')) ?? []
  const [, native] = /service_version="([^"]+)"/.exec(renderNative(node)) ?? []
  const [, report] = /^version: (.*)$/m.exec(await printed(createStatusTool(node))) ?? []
  const row = await printed(createPackageTool(node), '-W', FORM, 'zephyr')
  return { program, package: row.split(' ')[3], report, rpc: clientVersionOf(node), native }
}
const all = (installed: string, running: string) => ({
  program: installed,
  package: installed,
  report: installed,
  rpc: `Zephyr/${running}`,
  native: running,
})

describe('an upgrade', () => {
  test('runs in no process until its restart', async () => {
    const { node, to } = playLines(
      '10s package upgraded 0.17.0',
      '20s rpc stops',
      '21s rpc starts',
      '30s node restarts',
    )
    expect(await told(node)).toEqual(all('0.16.1', '0.16.1'))
    await to(10)
    expect(await told(node)).toEqual(all('0.17.0', '0.16.1'))
    await to(21)
    expect(await told(node)).toEqual({ ...all('0.17.0', '0.16.1'), rpc: 'Zephyr/0.17.0' })
    await to(30)
    expect(await told(node)).toEqual(all('0.17.0', '0.17.0'))
    const [started] = saying(consensusLog(node, 29), 'starting zephyr-bft with version')
    expect(started && textOf(started)).toContain('with version 0.17.0')
  })

  test('that was missed: the old version keeps running', async () => {
    const { node } = playLines('0s package was 0.16.0', '0s package upgraded 0.16.1')
    expect(await told(node)).toEqual(all('0.16.1', '0.16.0'))
  })

  test('to a release candidate: the endpoint omits the suffix, Debian writes it with a tilde', async () => {
    const { node } = playLines('0s package was 0.17.0-rc2')
    expect(await told(node)).toEqual({
      ...all('0.17.0-rc2', '0.17.0-rc2'),
      package: '0.17.0~rc2',
      rpc: 'Zephyr/0.17.0',
    })
  })
})

test('the RPC hides its version and shows it again', async () => {
  const { node, to } = playLines('5s version hides', '9s version shows')
  await to(5)
  expect(clientVersionOf(node)).toBe('Zephyr/unknown')
  expect((await told(node)).native).toBe('0.16.1')
  await to(9)
  expect(clientVersionOf(node)).toBe('Zephyr/0.16.1')
})

test('dpkg-query has one package and only -W', async () => {
  const tool = createPackageTool(playLines().node)
  const frames = async (...argv: readonly string[]) => {
    const all_ = []
    for await (const frame of tool(argv, new AbortController().signal)) all_.push(frame)
    return all_
  }
  expect(await frames('-W', FORM, 'zephyr')).toEqual([{ stdout: 'hi  zephyr 0.16.1 amd64\n' }, { exit: 0 }])
  expect(await frames('-W', FORM, 'other')).toEqual([
    { stderr: 'dpkg-query: no packages found matching other\n' },
    { exit: 1 },
  ])
  expect((await frames('--purge', 'zephyr')).at(-1)).toEqual({ exit: 2 })
})

test('a database before page encoding has one timeline, by slots', async () => {
  const { node } = playLines('0s mpt timelines legacy')
  const report = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  expect(report.match(/State machine kind: .*/g)).toEqual(['State machine kind: ethereum'])
  expect(renderNative(node)).toMatch(/^\w+_triedb_migration_phase(?:\{[^}]*\})? 0$/m)
})

test('the simulated forks: one is dropped after 90 seconds, the last day before the other starts after 30', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'simulator-forks-'))
  const file: unknown = parse(await readFile(await writeForkFile(directory, BEGIN), 'utf8'))
  await rm(directory, { recursive: true })
  expect(file).toMatchObject({
    31143: [
      { name: 'first-light', activation: '2026-01-30T12:11:30.000Z' },
      { name: 'aurora', activation: '2026-03-02T12:10:30.000Z', timeline: 'page' },
    ],
  })
})
