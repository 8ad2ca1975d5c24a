import { expect, test } from 'vitest'
import { clientVersionOf, createPackageTool, createVersionTool } from '../../simulator/versions.ts'
import { renderNative } from '../../simulator/native.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { createStatusTool } from '../../simulator/status-report.ts'
import { consensusLog, playLines, printed, saying, textOf } from './play.ts'

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

test('an upgrade runs in no process until its restart', async () => {
  const { node, to } = playLines('10s package upgraded 0.17.0', '20s rpc stops', '21s rpc starts', '30s node restarts')
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

test('of a release candidate the endpoint omits the suffix, Debian writes it with a tilde', async () => {
  const { node } = playLines('0s package was 0.17.0-rc2')
  expect(await told(node)).toEqual({
    ...all('0.17.0-rc2', '0.17.0-rc2'),
    package: '0.17.0~rc2',
    rpc: 'Zephyr/0.17.0',
  })
})
