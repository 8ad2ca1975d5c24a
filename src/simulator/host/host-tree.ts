import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import type { SimulatedNode } from '../node.ts'
import { hostFiles, openFilesOf } from './host-files.ts'
import { CPUS, type Ticks } from './kernel-texts.ts'
import { createNodeFiles } from './node-files.ts'
import { LIVELY, type Pace } from '../pace.ts'

/** Where the parts of the rehearsal host lie. */
export interface HostPlaces {
  readonly procfs: string
  readonly sysfs: string
  readonly bootDirectory: string
  readonly smartDirectory: string
  readonly directories: { readonly ledger: string; readonly wal: string }
}

interface Options {
  readonly clock: Clock
  /** That of the simulator. */
  readonly directory: string
  /** Where the node keeps its files. */
  readonly nodeDirectory: string
  readonly pace?: Pace
}

export interface HostTree {
  readonly places: HostPlaces
  /** Writes what has changed. */
  settle(): Promise<void>
  /** Goes on writing what has changed, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>
}

/** The health of drives is written every so often, though it says the same. */
const HEALTH_MS = 30_000

/** The files in which a host tells of itself, written once before this returns. */
export const createHostTree = async (
  node: SimulatedNode,
  { clock, directory, nodeDirectory, pace = LIVELY }: Options,
): Promise<HostTree> => {
  const root = join(directory, 'host')
  const places: HostPlaces = {
    procfs: join(root, 'proc'),
    sysfs: join(root, 'sys'),
    bootDirectory: join(root, 'boot'),
    smartDirectory: join(root, 'smart'),
    directories: { ledger: join(nodeDirectory, 'ledger'), wal: join(nodeDirectory, 'wal') },
  }
  const nodeFiles = createNodeFiles(node, nodeDirectory)
  const count = createTicks(node)
  let written: ReadonlyMap<string, string> = new Map()
  let healthMs = node.now()

  const settle = async (): Promise<void> => {
    const files = hostFiles(node, count())
    const isDue = node.now() - healthMs >= HEALTH_MS
    if (isDue) healthMs = node.now()
    for (const [path, text] of files) {
      if (written.get(path) === text && !(isDue && path.startsWith('smart/'))) continue
      await put(root, path, text)
    }
    for (const path of written.keys()) if (!files.has(path)) await take(root, path)
    written = files
    for (const [pid, open] of openFilesOf(node))
      await keepOpen(join(places.procfs, `${pid}/fd`), open)
    await nodeFiles.keep()
  }

  await rm(root, { recursive: true, force: true })
  await nodeFiles.clear()
  await nodeFiles.begin()
  await settle()
  return {
    places,
    settle,
    keep: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(pace.hostMs, signal)
        // Somebody may have taken the directory away; the node goes on without it.
        if (!signal.aborted) await settle().catch(() => undefined)
      }
    },
  }
}

/** The time of the processors since the boot: what a scenario says of it counts from then on. */
const createTicks = (node: SimulatedNode): (() => Ticks) => {
  let [atMs, bootedMs] = [node.now(), node.now()]
  let ticks: Ticks = { busy: 0, idle: 0 }
  return () => {
    const { host } = node.condition()
    const nowMs = node.now()
    if (host.bootedMs !== bootedMs) {
      // All of the time before the beginning was like the beginning.
      bootedMs = host.bootedMs
      atMs = Math.min(nowMs, bootedMs)
      ticks = { busy: 0, idle: 0 }
    }
    const passed = ((nowMs - atMs) / 10) * CPUS
    const share = Math.min(1, host.busyPercent / 100 + (Math.floor(nowMs / 5000) % 5) / 500)
    ticks = { busy: ticks.busy + passed * share, idle: ticks.idle + passed * (1 - share) }
    atMs = nowMs
    return ticks
  }
}

/** Whole or not at all: nobody reads half of it. */
const put = async (root: string, path: string, text: string): Promise<void> => {
  const draft = join(root, 'draft')
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(draft, text)
  await rename(draft, join(root, path))
}

/** A process or a drive goes with its directory, a kernel as a file. */
const take = async (root: string, path: string): Promise<void> => {
  const [, whole = path] = /^(proc\/\d+|sys\/class\/nvme\/[^/]+)\//.exec(path) ?? []
  await rm(join(root, whole), { recursive: true, force: true })
}

const keepOpen = async (directory: string, wanted: number): Promise<void> => {
  await mkdir(directory, { recursive: true })
  const there = (await readdir(directory)).length
  for (let fd = there; fd < wanted; fd += 1) await writeFile(join(directory, String(fd)), '')
  for (let fd = there - 1; fd >= wanted; fd -= 1)
    await rm(join(directory, String(fd)), { force: true })
}
