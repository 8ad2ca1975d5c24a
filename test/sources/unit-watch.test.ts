import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createUnitWatch } from '../../src/sources/unit-watch.ts'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'

const BFT = { unit: 'bft.service', invocation: 'a1', controlGroup: '/system.slice/bft.service' }
const base = await temporaryFolder()
let [state, cgroups] = ['', '']
let wakes = 0

const linkTo = async (unit: string, invocation: string): Promise<void> =>
  symlink(invocation, join(state, `units/invocation:${unit}`))
/** The control group of BFT, with processes. */
const startGroup = async (): Promise<void> => {
  await mkdir(join(cgroups, BFT.controlGroup), { recursive: true })
  await writeFile(join(cgroups, BFT.controlGroup, 'cgroup.events'), 'populated 1\nfrozen 0\n')
}
const emptyGroup = async (): Promise<void> => {
  await writeFile(join(cgroups, BFT.controlGroup, 'cgroup.events'), 'populated 0\nfrozen 0\n')
}
const start = () => {
  const unitWatch = createUnitWatch({ state, cgroups })(() => (wakes += 1))
  onTestFinished(unitWatch.close)
  unitWatch.renew()
  return unitWatch
}
const woken = async (): Promise<void> => {
  await eventually(() => wakes, /[1-9]/, { every: 5 })
  // Its other events come with it, before those of a file that is written now.
  await allEvents()
  wakes = 0
}
/** Resolves when the events up to now have been delivered: those of one process come in order. */
const allEvents = async (): Promise<void> => {
  const fence = watch(cgroups)
  const event = once(fence, 'change')
  await writeFile(join(cgroups, 'fence'), '')
  await event
  fence.close()
}

beforeEach(async () => {
  const directory = await mkdtemp(join(base, 'host-'))
  ;[state, cgroups] = [join(directory, 'state'), join(directory, 'cgroups')]
  await mkdir(join(state, 'units'), { recursive: true })
  await startGroup()
  await linkTo(BFT.unit, 'a1')
  wakes = 0
})

test('the link of a unit that ends or starts wakes; that of another unit does not', async () => {
  const unitWatch = start()
  expect(unitWatch.cover([BFT])).toBeNull()
  // The units are new.
  expect(wakes).toBe(1)
  wakes = 0
  await linkTo('other.service', 'f6')
  await allEvents()
  expect(wakes).toBe(0)
  await rm(join(state, `units/invocation:${BFT.unit}`))
  await woken()
  await linkTo(BFT.unit, 'b2')
  await woken()
})

test('a control group whose last process ends wakes, also if it was removed and created again', async () => {
  const unitWatch = start()
  unitWatch.cover([BFT])
  wakes = 0
  await emptyGroup()
  await woken()
  await rm(join(cgroups, BFT.controlGroup), { recursive: true })
  await startGroup()
  await allEvents()
  wakes = 0
  unitWatch.renew()
  expect(unitWatch.cover([BFT])).toBeNull()
  // systemctl would run without end.
  expect(wakes).toBe(0)
  await emptyGroup()
  await woken()
})

test('a control group that is new wakes: the unit may have changed before it was watched', () => {
  const unitWatch = start()
  unitWatch.cover([{ ...BFT, invocation: null, controlGroup: null }])
  wakes = 0
  unitWatch.cover([BFT])
  expect(wakes).toBe(1)
  unitWatch.cover([BFT])
  expect(wakes).toBe(1)
})

test('the load of units wakes, and a directory of links that is created again is watched', async () => {
  const unitWatch = start()
  unitWatch.cover([BFT])
  wakes = 0
  await writeFile(join(state, 'systemd-units-load'), '')
  await woken()
  await rm(join(state, 'units'), { recursive: true })
  await mkdir(join(state, 'units'))
  await linkTo(BFT.unit, 'a1')
  await woken()
  unitWatch.renew()
  expect(unitWatch.cover([BFT])).toBeNull()
  await rm(join(state, `units/invocation:${BFT.unit}`))
  await woken()
})

test('nothing wakes after the end', async () => {
  const unitWatch = start()
  unitWatch.cover([BFT])
  unitWatch.close()
  wakes = 0
  await emptyGroup()
  await linkTo('other.service', 'f6')
  await rm(join(state, `units/invocation:${BFT.unit}`))
  await allEvents()
  expect(wakes).toBe(0)
})

test('units that cannot be watched have a reason, which ends', async () => {
  await rm(join(state, 'units'), { recursive: true })
  const unitWatch = start()
  expect(unitWatch.cover([BFT])).toBe(`${state}/units cannot be watched (ENOENT)`)
  await mkdir(join(state, 'units'))
  unitWatch.renew()
  expect(unitWatch.cover([BFT])).toBe(`${state}/units has no link to the run of bft.service`)
  await linkTo(BFT.unit, 'a1')
  expect(unitWatch.cover([BFT])).toBeNull()
  expect(unitWatch.cover([{ ...BFT, invocation: 'b2' }])).toBe(`${state}/units has no link to the run of bft.service`)
})

// As with cgroup v1, and in a container that does not see the control groups of the host.
test('a control group without cgroup.events cannot be watched, and does not wake', async () => {
  await rm(join(cgroups, BFT.controlGroup, 'cgroup.events'))
  const unitWatch = start()
  unitWatch.cover([{ ...BFT, controlGroup: null }])
  wakes = 0
  expect(unitWatch.cover([BFT])).toBe(`${cgroups}${BFT.controlGroup}/cgroup.events cannot be watched (ENOENT)`)
  expect(wakes).toBe(0)
})

test('what a control group uses is read; a file of a controller that is off is null', async () => {
  await writeFile(join(cgroups, BFT.controlGroup, 'memory.current'), '4096\n')
  await writeFile(join(cgroups, BFT.controlGroup, 'cpu.stat'), 'usage_usec 7\n')
  const usage = start().usage(BFT.controlGroup)
  expect(usage).toEqual({ memory: '4096\n', cpu: 'usage_usec 7\n', tasks: null })
})
