import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../src/core/clock.ts'
import type { SimulatedNode } from '../subject.ts'
import { LIVELY, type Pace } from '../pace.ts'
import { driveFiles, networkCardFiles, renderSockets, renderSockets6 } from './devices.ts'
import { dropsAt, type Host } from './host.ts'
import { pidOf, ROLES } from '../services/service.ts'
import { digest, type Validator } from '../chain.ts'
import { numberAt } from '../scenario/directives.ts'

interface HostTreeOptions {
  readonly clock: Clock
  /** The directory of the simulator. */
  readonly directory: string
  /** The directory of the node's own files. */
  readonly nodeDirectory: string
  readonly pace?: Pace
  /** Resolves when all that reads these files has read them; by default at once. */
  readonly readersSettled?: () => Promise<void>
}

/** The health of drives is written again in this interval, even if unchanged. */
const HEALTH_MS = 30_000

/** The files that describe a host: /proc, /sys, /boot and SMART. All are written when the function returns. */
export const createHostTree = (
  node: SimulatedNode,
  { clock, directory, nodeDirectory, pace = LIVELY, readersSettled }: HostTreeOptions,
) => {
  const root = join(directory, 'host')
  const places = {
    procfs: join(root, 'proc'),
    sysfs: join(root, 'sys'),
    bootDirectory: join(root, 'boot'),
    smartDirectory: join(root, 'smart'),
    directories: { ledger: join(nodeDirectory, 'ledger'), wal: join(nodeDirectory, 'wal') },
  }
  const nodeFiles = createNodeFiles(node, nodeDirectory)
  const count = createTicks(node)
  let written: ReadonlyMap<string, string> = new Map()
  let opened: ReadonlyMap<number, number> = new Map()
  let healthMs = node.now()

  const settle = (): void => {
    const files = hostFiles(node, count())
    const isDue = node.now() - healthMs >= HEALTH_MS
    if (isDue) healthMs = node.now()
    for (const [path, text] of files) {
      if (written.get(path) === text && !(isDue && path.startsWith('smart/'))) continue
      writeAtomically(root, path, text)
      if (path.startsWith('smart/')) utimesSync(join(root, path), node.now() / 1000, node.now() / 1000)
    }
    for (const path of written.keys()) if (!files.has(path)) removeEntry(root, path)
    written = files
    const open = openFilesOf(node)
    for (const [pid, wanted] of open) if (opened.get(pid) !== wanted) keepOpen(join(places.procfs, `${pid}/fd`), wanted)
    opened = open
    nodeFiles.keep()
  }

  rmSync(root, { recursive: true, force: true })
  nodeFiles.begin()
  settle()
  return {
    places,
    root,
    /** Writes the files that have changed. */
    settle,
    /** Keeps writing the files that change, until the signal aborts. */
    keep: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        await clock.sleep(pace.hostMs, signal)
        if (!signal.aborted) await readersSettled?.()
        if (signal.aborted) return
        try {
          settle()
        } catch {
          // The directory may have been removed; the node continues without it.
        }
      }
    },
  }
}

/** CPU time since the boot; a scenario changes it from its directive on. */
const createTicks = (node: SimulatedNode): (() => Ticks) => {
  let [atMs, bootedMs] = [node.now(), node.now()]
  let ticks: Ticks = NO_TICKS
  return () => {
    const { host } = node.condition()
    const nowMs = node.now()
    if (host.bootedMs !== bootedMs) {
      // The time since the boot counts with the current load.
      bootedMs = host.bootedMs
      atMs = Math.min(nowMs, bootedMs)
      ticks = NO_TICKS
    }
    const passed = ((nowMs - atMs) / 10) * CPUS
    const share = Math.min(1, host.busyPercent / 100 + (Math.floor(nowMs / 5000) % 5) / 500)
    ticks = {
      busy: ticks.busy + passed * share,
      idle: ticks.idle + passed * (1 - share),
      overloaded: ticks.overloaded + (host.busyPercent >= OVERLOADED ? passed : 0),
      starved: ticks.starved + (host.availableMemoryPercent < SCARCE_MEMORY ? passed : 0),
    }
    atMs = nowMs
    return ticks
  }
}

/** A process or a drive is removed as a directory, a kernel as a file. */
const removeEntry = (root: string, path: string): void => {
  const [, directory = path] = /^(proc\/\d+|sys\/class\/nvme\/[^/]+|sys\/block\/[^/]+)\//.exec(path) ?? []
  rmSync(join(root, directory), { recursive: true, force: true })
}

const keepOpen = (directory: string, wanted: number): void => {
  mkdirSync(directory, { recursive: true })
  const there = readdirSync(directory).length
  for (let fd = there; fd < wanted; fd += 1) writeFileSync(join(directory, String(fd)), '')
  for (let fd = there - 1; fd >= wanted; fd -= 1) rmSync(join(directory, String(fd)), { force: true })
}

/** The files of kernel and drives, by path below the directory of the host. */
const hostFiles = (node: SimulatedNode, ticks: Ticks): ReadonlyMap<string, string> => {
  const { host, services } = node.condition()
  const throttles =
    17 + (host.throttledFromMs === undefined ? 0 : Math.floor((node.now() - host.throttledFromMs) / 500))
  const cpu = (at: number): Entries => ({
    [`sys/devices/system/cpu/cpu${at}/cpufreq/scaling_governor`]: `${host.governor}\n`,
    [`sys/devices/system/cpu/cpu${at}/thermal_throttle/package_throttle_count`]: `${throttles}\n`,
    [`sys/devices/system/cpu/cpu${at}/topology/physical_package_id`]: '0\n',
  })
  const pages = (size: string, total: number, free: number): Entries => ({
    [`sys/kernel/mm/hugepages/hugepages-${size}/nr_hugepages`]: `${total}\n`,
    [`sys/kernel/mm/hugepages/hugepages-${size}/free_hugepages`]: `${free}\n`,
  })
  const running = ROLES.map((role) => services[role]).filter(({ state }) => state === 'active')
  return new Map(
    [
      {
        'proc/stat': `btime ${Math.floor(host.bootedMs / 1000)}\n`,
        'proc/meminfo': renderMemory(host),
        'proc/net/tcp': renderSockets(host),
        'proc/net/tcp6': renderSockets6(),
        'proc/sys/kernel/osrelease': `${host.kernel}\n`,
        'proc/sys/kernel/random/boot_id': `${node.journal.bootId}\n`,
        ...renderContention(ticks, host, node.now()),
        'sys/devices/system/cpu/smt/active': `${host.multithreading ? 1 : 0}\n`,
        'var/lib/apt/lists/lock': '',
        [`boot/vmlinuz-${host.kernel}`]: '',
        [`boot/vmlinuz-${host.pendingKernel}`]: '',
      },
      ...Array.from({ length: CPUS }, (_, at) => cpu(at)),
      pages('2048kB', 2048, host.hugePagesFree),
      pages('1048576kB', 4, 0),
      ...running.map((service) => ({ [`proc/${pidOf(service)}/limits`]: renderLimits(host) })),
      driveFiles(node),
    ].flatMap((entries: Entries) => Object.entries(entries)),
  )
}

type Entries = Readonly<Record<string, string>>

/** The number of open files of each running service, by PID; that of consensus is set by the scenario. */
const openFilesOf = (node: SimulatedNode): ReadonlyMap<number, number> => {
  const { host, services } = node.condition()
  return new Map(
    ROLES.map((role) => services[role])
      .filter(({ state }) => state === 'active')
      .map((service) => [pidOf(service), service.role === 'bft' ? host.openFiles : 12]),
  )
}

/** Hundredths of a second, the unit of CPU time in the kernel. `overloaded`: with all CPUs busy; `starved`: with hardly any memory available. */
const NO_TICKS = { busy: 0, idle: 0, overloaded: 0, starved: 0 }

type Ticks = Readonly<typeof NO_TICKS>

const CPUS = 8

/** 256 GiB. */
const MEMORY_KB = 256 * 1024 * 1024

/** `/proc/meminfo`: two of its lines. */
const renderMemory = ({ availableMemoryPercent }: Host): string =>
  `MemTotal:       ${MEMORY_KB} kB\nMemAvailable:   ${Math.round((MEMORY_KB * availableMemoryPercent) / 100)} kB\n`

/** A CPU at this use or more loses packets. In percent. */
const OVERLOADED = 90

/** With less than this available programs wait for memory. In percent. */
const SCARCE_MEMORY = 5

/** Waiting and lost packets, all in proportion to the time since the boot that is simulated. */
const renderContention = ({ busy, idle, overloaded, starved }: Ticks, host: Host, nowMs: number): Entries => {
  const { oomKills, udpDrops, diskStalls } = host
  const uptimeSeconds = (busy + idle) / CPUS / 100
  const busySeconds = busy / CPUS / 100
  const starvedSeconds = starved / CPUS / 100
  const pressure = (some: number, full: number): string =>
    [`some ${Math.round(some * 1e6)}`, `full ${Math.round(full * 1e6)}`]
      .map((line) => `${line.replace(' ', ' avg10=0.00 avg60=0.00 avg300=0.00 total=')}\n`)
      .join('')
  const stalled = dropsAt(diskStalls, nowMs) / 1000
  const lost = Math.round(overloaded / CPUS) + dropsAt(udpDrops, nowMs)
  return {
    'proc/pressure/cpu': pressure(busySeconds * 0.04, 0),
    'proc/pressure/io': pressure(uptimeSeconds * 0.012 + stalled, uptimeSeconds * 0.009 + stalled),
    'proc/pressure/memory': pressure(starvedSeconds * 0.3, starvedSeconds * 0.2),
    'proc/net/snmp': [
      'Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors',
      `Udp: ${Math.round(uptimeSeconds * 8000)} 12 ${lost} ${Math.round(uptimeSeconds * 9000)} ${lost} 0 0`,
      '',
    ].join('\n'),
    ...networkCardFiles(uptimeSeconds, host, nowMs),
    'proc/sys/net/core/rmem_max': '62500000\n',
    'proc/sys/net/core/wmem_max': '62500000\n',
    'proc/vmstat': `nr_free_pages 812345\noom_kill ${oomKills}\n`,
  }
}

/** `/proc/PID/limits`: three of its sixteen lines. */
const renderLimits = ({ maxOpenFiles }: Host): string => {
  const row = (name: string, values: readonly string[]): string =>
    `${name.padEnd(26)}${values.map((value) => value.padEnd(21)).join('')}\n`
  const hard = String(Math.max(maxOpenFiles, 524_288))
  return [
    row('Limit', ['Soft Limit', 'Hard Limit', 'Units']),
    row('Max cpu time', ['unlimited', 'unlimited', 'seconds']),
    row('Max open files', [String(maxOpenFiles), hard, 'files']),
    row('Max locked memory', ['unlimited', 'unlimited', 'bytes']),
  ].join('')
}

const MEGABYTE = 1024 * 1024
const DAY_MS = 86_400_000
const RENEWED_EVERY_MS = 5000
const FULL_FILES = 24
const BLOCK = Buffer.alloc(MEGABYTE, 'wal ')

/**
 * The files of the node: configuration, ledger, write-ahead log. Written synchronously: handing a small file to the thread
 * pool costs more CPU time than writing it.
 */
const createNodeFiles = (node: SimulatedNode, directory: string) => {
  const at = (...names: readonly string[]): string => join(directory, ...names)
  const { beginMs } = node.timeline
  const keepSets = createSetFiles(node, (path, text) => {
    writeAtomically(directory, path, text)
  })

  const begin = (): void => {
    // The next simulation in the same directory starts without an unmounted log.
    rmSync(at('wal.unmounted'), { recursive: true, force: true })
    for (const name of ['config/forkpoint', 'config/validators', 'ledger', 'wal']) {
      mkdirSync(at(name), { recursive: true })
    }
    writeFileSync(at('config/node.toml'), `node_name = "${node.prefix}-simulated"\nstatesync_threshold = 600\n`)
    keepSets()
    writeFileSync(at('wal', 'wal.0'), '')
    date('config/node.toml', beginMs - 20 * DAY_MS)
    date('config/validators/validators.toml', beginMs - DAY_MS / 12)
  }

  const date = (name: string, ms: number): void => {
    utimesSync(at(name), ms / 1000, ms / 1000)
  }

  let ledgerFiles = 0
  const keepLedger = (): void => {
    const wanted = Math.round(numberAt(node.condition().host.ledgerFiles, node.now()))
    for (; ledgerFiles < wanted; ledgerFiles += 1) {
      // A full ledger is a matter of files: only the first have content.
      writeFileSync(at('ledger', `${ledgerFiles}.body`), BLOCK.subarray(0, ledgerFiles < FULL_FILES ? 16 * 1024 : 0))
    }
    for (; ledgerFiles > wanted; ledgerFiles -= 1) rmSync(at('ledger', `${ledgerFiles - 1}.body`), { force: true })
  }

  /** The bytes are really written: free space of a file system cannot be simulated. */
  const keepWal = (): void => {
    const { hasWal, walMegabytes } = node.condition().host
    const [shown, hidden] = [at('wal'), at('wal.unmounted')]
    const isShown = existsSync(shown)
    if (isShown !== hasWal) renameSync(isShown ? shown : hidden, isShown ? hidden : shown)
    if (!hasWal) return
    const file = at('wal', 'wal.0')
    const wanted = Math.round(numberAt(walMegabytes, node.now()) * 4) * (MEGABYTE / 4)
    const { size } = statSync(file)
    if (size > wanted) truncateSync(file, wanted)
    for (let left = wanted - size; left > 0; left -= BLOCK.length) {
      appendFileSync(file, BLOCK.subarray(0, Math.min(left, BLOCK.length)))
    }
  }

  const keep = (): void => {
    const { forkpointMs } = node.condition().host
    const renewedMs = Math.floor(node.now() / RENEWED_EVERY_MS) * RENEWED_EVERY_MS
    keepSets()
    date('config/forkpoint/forkpoint.toml', forkpointMs ?? renewedMs)
    keepLedger()
    keepWal()
  }

  return { begin, keep }
}

/** Atomic: a reader never sees a part of the file. */
const writeAtomically = (root: string, path: string, text: string): void => {
  const draft = join(root, 'draft')
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(draft, text)
  renameSync(draft, join(root, path))
}

/** The files with the sets of validators: written again when the set of the next epoch is known, and when it takes over. */
const createSetFiles = ({ chain, now, condition }: SimulatedNode, write: (path: string, text: string) => void) => {
  /** The epochs of the sets. */
  let written = ''
  return (): void => {
    const epochs = chain.epochsAt(chain.headAt(now()))
    const sets = epochs.map(({ epoch }) => epoch - condition().host.setsAge)
    if (sets.join() === written) return
    written = sets.join()
    const text = sets.map((epoch) => renderSet(epoch, chain.validators)).join('\n')
    write('config/validators/validators.toml', text)
    write('config/forkpoint/forkpoint.toml', epochs.map(renderStart).join('\n'))
  }
}

const renderSet = (epoch: bigint, validators: readonly Validator[]): string =>
  [
    '[[validator_sets]]',
    `epoch = ${epoch}`,
    ...validators.flatMap(({ publicKey, stake }) => [
      '[[validator_sets.validators]]',
      `node_id = "0x${publicKey}"`,
      `stake = "0x${stake.toString(16)}"`,
      `cert_pubkey = "0x${digest(publicKey, 'bls')}${digest(publicKey, 'rest').slice(0, 32)}"`,
    ]),
    '',
  ].join('\n')

const renderStart = ({ epoch, startRound }: { readonly epoch: bigint; readonly startRound: bigint }): string =>
  `[[validator_sets]]\nepoch = ${epoch}\nround = ${startRound}\n`
