import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBench } from './bench.ts'

let bench: Awaited<ReturnType<typeof startBench>>
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => bench.close())
const run = async (name: string, ...argv: readonly string[]) => bench.run(name, ...argv)

describe('systemctl', () => {
  test('prints the requested properties in systemd order, with a blank line between units', async () => {
    const asked = '--property=ActiveState,Id,ExecMainStatus,LoadState,Result,ExecMainCode'
    const units = ['zephyr-execution.service', 'otelcol', 'zephyr-nowhere.service']
    expect(await run('systemctl', 'show', asked, ...units)).toEqual({
      stdout: [
        'Result=signal\nExecMainCode=2\nExecMainStatus=9\nId=zephyr-execution.service\nLoadState=loaded\nActiveState=failed\n',
        'Result=success\nExecMainCode=1\nExecMainStatus=0\nId=otelcol.service\nLoadState=loaded\nActiveState=inactive\n',
        'Result=success\nExecMainCode=0\nExecMainStatus=0\nId=zephyr-nowhere.service\nLoadState=not-found\nActiveState=inactive\n',
      ].join('\n'),
      stderr: '',
      code: 0,
    })
  })

  test('formats times as requested, but those of timers always as dates', async () => {
    const show = async (style: string, unit: string, property: string) =>
      (await run('systemctl', 'show', `--timestamp=${style}`, '-p', property, '--value', unit)).stdout.trim()
    const began = 'ExecMainStartTimestamp'
    expect(await show('us+utc', 'zephyr-bft', began)).toMatch(
      /^[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} UTC$/,
    )
    expect(await show('pretty', 'zephyr-bft', began)).toMatch(/^[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    expect(await show('us+utc', 'zephyr-cruft.timer', 'LastTriggerUSec')).toMatch(/ \d\d:00:00 UTC$/)
  })

  test('lists unit files by pattern', async () => {
    const files = await run('systemctl', 'list-unit-files', '--no-legend', '--no-pager', '*-bft.service', 'zephyr-c*')
    expect(files.stdout).toBe('zephyr-bft.service enabled enabled\nzephyr-cruft.service static -\n')
    expect((await run('systemctl', 'list-unit-files', '*-none.service')).code).toBe(1)
  })

  test('rejects unknown commands and options', async () => {
    expect(await run('systemctl', 'frob')).toEqual({
      stdout: '',
      stderr: 'Unknown command verb frob.\n',
      code: 1,
    })
  })

  test('reports a removed unit as not found', async () => {
    const without = await startBench('0s ledger-tail vanishes')
    const units = ['zephyr-ledger-tail', 'zephyr-rpc']
    const shown = await without.run('systemctl', 'show', '-p', 'LoadState,ActiveState', ...units)
    const listed = await without.run('systemctl', 'list-unit-files', '--no-legend', '*-tail.service')
    await without.close()
    expect(shown.stdout).toBe('LoadState=not-found\nActiveState=inactive\n\nLoadState=loaded\nActiveState=active\n')
    expect(listed.stdout.trim()).toBe('')
  })
})
