import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Host, openHost } from '../support/host.ts'

/** The simulated host was booted 13 days before its journal begins, 120 s before the scenario, which is 300 s old. */
const UPTIME_SECONDS = 13 * 86_400 + 120 + 300

const keyIn = (metrics: string): string =>
  /^chain_duty_identity_active\{.*identity="(\w+)".*\} 1$/m.exec(metrics)?.[1] ?? 'no host signs'
const bootIn = (metrics: string): string => /^chain_duty_identity_active\{.*boot="(\w+)"/m.exec(metrics)?.[1] ?? 'none'

/** Runs the guard on a host, whose keystores are those before its scenario. */
const guardOn = async (host: Host, settings: Readonly<Record<string, string>>) => {
  const directory = join(host.directory, 'guard')
  await mkdir(join(directory, 'proc/sys/kernel/random'), { recursive: true })
  await writeFile(join(directory, 'proc/sys/kernel/random/boot_id'), `${settings['boot']}\n`)
  await writeFile(join(directory, 'proc/uptime'), `${UPTIME_SECONDS}.00 0.00\n`)
  const places = { 'host.procfs': join(directory, 'proc'), 'node.directory': join(directory, 'node') }
  return async (more: Readonly<Record<string, string>>, ...argv: readonly string[]) => {
    const { boot: _boot, ...others } = settings
    const set = Object.entries({ ...places, ...others, ...more }).flatMap(([key, value]) => [
      '--set',
      `${key}=${value}`,
    ])
    const { code, out } = await host.run(['start-guard', ...set, ...argv])
    return { code, line: out.trimEnd() }
  }
}

test('the old primary comes back with the funded key while the new one signs', async () => {
  const primary = await openHost({ scenario: 'healthy', second: 300 })
  const metrics = await primary.page('/metrics')
  expect(keyIn(metrics)).toMatch(/^0[23][0-9a-f]{64}$/)
  // The same validator; its consensus was killed 270 s ago, and the network has its blocks since, of the other host.
  // Another unit has a journal entry of the last minute, as ExecStartPre= has by systemd.
  const scenario = '30s bft crashes SIGKILL\n290s otelcol crashes SIGKILL'
  const old = await openHost({ scenario, second: 300, agent: false })
  const settings = { boot: bootIn(metrics), 'node.publicKey': keyIn(metrics) }
  const guard = await guardOn(old, settings)

  const byReference = await guard({})
  expect(byReference.line).toMatch(
    /^START REFUSED: another host signs with the key 0[23]\w{4}\.\.\w{4}: other-rpc has block [\d,]+ of validator \d+, \d+ s ago, and consensus has not run here for 4 min 3\d s; stop that host/,
  )
  expect(byReference.code).toBe(1)

  // The new primary is fenced, and the operator starts the old one: once.
  expect((await guard({}, '--override')).code).toBe(0)
  expect(await guard({})).toEqual({ code: 0, line: 'START ALLOWED: overridden for this start, without a check' })
  expect((await guard({})).code).toBe(1)
})

test('the new primary restarts: its own last blocks and votes do not keep it down', async () => {
  const primary = await openHost({ scenario: 'healthy', second: 300 })
  const metrics = await primary.page('/metrics')
  const settings = { boot: bootIn(metrics), 'node.publicKey': keyIn(metrics) }
  const guard = await guardOn(primary, settings)
  const { code, line } = await guard({ 'startGuard.agents': `[http://127.0.0.1:${primary.port}]` })
  expect(line).toMatch(
    /^START ALLOWED: no other host signs with the key \w{6}\.\.\w{4}, by other-rpc, agent 127\.0\.0\.1:\d+$/,
  )
  expect(code).toBe(0)
})
